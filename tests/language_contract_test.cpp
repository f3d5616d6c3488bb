#include "language/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Problem softmax() {
    Problem problem;
    problem.name = "softmax";
    problem.inputs = {{.name = "x"}, {.name = "labels", .dtype = DType::int64}};
    problem.outputs = {{.name = "y"}, {.name = "mask", .dtype = DType::boolean}};
    problem.parameters = {{.name = "eps"}, {.name = "pad", .dtype = DType::int64}};
    problem.dimensions = {"M", "N"};
    return problem;
}

std::string failure(const std::string& source) {
    try {
        parse_tunables(source, "kernel.cpp");
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Contract, ListsFollowTheProblemsOrder) {
    EXPECT_EQ(parameter_list(softmax()),
              "const float* x, const int64_t* labels, float* y, bool* mask, float eps, int64_t pad, "
              "int64_t M, int64_t N");
    EXPECT_EQ(argument_list(softmax()), "x, labels, y, mask, eps, pad, M, N");
}

TEST(Contract, ShortSignatureIsOneLine) {
    Problem problem = softmax();
    problem.inputs.pop_back();
    problem.outputs.pop_back();
    problem.parameters.clear();
    EXPECT_EQ(signature(problem), "extern \"C\" void softmax(const float* x, float* y, int64_t M, int64_t N)");
}

TEST(Contract, LongSignatureIsBrokenAndLosesNothing) {
    Problem problem = softmax();
    for (int i = 0; i < 12; ++i) problem.inputs.push_back({.name = "another_input_" + std::to_string(i)});
    std::string text = signature(problem), flat;
    for (const std::string& line : split(text, '\n')) {
        EXPECT_LE(line.size(), 110u);
        flat += (flat.empty() ? "" : " ") + std::string(trim(line));
    }
    EXPECT_EQ(flat, "extern \"C\" void softmax(" + parameter_list(problem) + ")");
    EXPECT_GT(split(text, '\n').size(), 2u);
}

TEST(Contract, ReadsEveryKindOfValue) {
    TunableSpace space = parse_tunables(
        "// strop:tune MR = 6 | 8 | -14\n"
        "int main() {}\n"
        "  # strop:tune RATE = 0.5|1e-3\r\n"
        "//strop:tune MODE = static | \"dynamic\" | 'x y'\n"
        "int MR_copy = MR;  // strop:flags OPT = -O2 | -O3 -funroll-loops\n",
        "k");
    ASSERT_EQ(space.tunables.size(), 4u);
    EXPECT_EQ(space.tunables[0].name, "MR");
    EXPECT_THAT(space.tunables[0].values, ElementsAre(Value(int64_t{6}), Value(int64_t{8}), Value(int64_t{-14})));
    EXPECT_THAT(space.tunables[1].values, ElementsAre(Value(0.5), Value(1e-3)));
    EXPECT_THAT(space.tunables[2].values, ElementsAre(Value("static"), Value("dynamic"), Value("x y")));
    EXPECT_EQ(space.tunables[2].kind, Tunable::Kind::constant);
    EXPECT_EQ(space.tunables[3].kind, Tunable::Kind::flags);
    EXPECT_THAT(space.tunables[3].values, ElementsAre(Value("-O2"), Value("-O3 -funroll-loops")));
}

TEST(Contract, ConditionsAreOverDimensions) {
    EXPECT_FALSE(condition_in("// strop:team\n", "k.cpp", {"M", "N"}));
    EXPECT_EQ(condition_in("int x;\n// strop:when N % 8 == 0\n", "k.cpp", {"M", "N"})->text(), "N%8 == 0");
    EXPECT_EQ(condition_in("# strop:when M > 1\n", "k.py", {"M"})->text(), "M > 1");
    for (const char* wrong : {"// strop:when\n", "// strop:when K > 1\n", "// strop:when N >\n",
                              "// strop:when N > 1\n// strop:when N > 2\n"})
        EXPECT_THROW(condition_in(wrong, "k.cpp", {"M", "N"}), UsageError) << wrong;
}

TEST(Contract, BooleansAreOneAndZero) {
    TunableSpace space = parse_tunables(
        "// strop:tune USE_X = true | false\n// strop:late DEEP = False | True\n// strop:tune EPS = 0.5 | 1.0\n"
        "// strop:require USE_X or not DEEP\n// strop:require EPS * 2 <= 1 or USE_X == true\n",
        "k");
    EXPECT_THAT(space.tunables[0].values, ElementsAre(Value(int64_t{1}), Value(int64_t{0})));
    EXPECT_THAT(space.tunables[1].values, ElementsAre(Value(int64_t{0}), Value(int64_t{1})));
    EXPECT_EQ(describe(default_configuration(space)), "DEEP=0 EPS=0.5 USE_X=1");
    EXPECT_EQ(describe(chosen_configuration(space, {{"USE_X", "true"}, {"EPS", "1.0"}, {"DEEP", "1"}})),
              "DEEP=1 EPS=1.0 USE_X=1");
    EXPECT_EQ(describe(chosen_configuration(space, {{"USE_X", "false"}, {"EPS", ".5"}})), "DEEP=0 EPS=0.5 USE_X=0");
    EXPECT_THROW(chosen_configuration(space, {{"USE_X", "false"}, {"EPS", "1.0"}}), UsageError);
    EXPECT_THROW(chosen_configuration(space, {{"USE_X", "no"}}), UsageError);
}

TEST(Contract, LateTunablesAreLimitedInNumber) {
    std::string text;
    for (size_t i = 0; i < most_late_tunables; ++i) text += "// strop:late A" + std::to_string(i) + " = 1 | 2\n";
    EXPECT_EQ(parse_tunables(text, "k").tunables.back().kind, Tunable::Kind::late);
    EXPECT_EQ(failure(text + "// strop:late B = 1"), "kernel.cpp:33: more than 32 late tunables");
}

TEST(Contract, TextsThatLookAlmostLikeNumbersStayTexts) {
    TunableSpace space = parse_tunables("// strop:tune A = 6x | 1.5.2 | nan | 99999999999999999999x\n", "k");
    for (const Value& value : space.tunables[0].values) EXPECT_TRUE(std::holds_alternative<std::string>(value));
}

TEST(Contract, OrdinaryTextIsNoDirective) {
    TunableSpace space = parse_tunables(
        "const char* text = \"strop:tune MR = 1\";\n// the strop:tune comment\n// strop:link -ldnnl\n", "k");
    EXPECT_TRUE(space.tunables.empty());
    EXPECT_TRUE(space.constraints.empty());
}

TEST(Contract, ConstraintsMayPrecedeTheirTunables) {
    TunableSpace space = parse_tunables("// strop:require A * B <= 8\n// strop:tune A = 1\n// strop:tune B = 2\n", "k");
    ASSERT_EQ(space.constraints.size(), 1u);
    EXPECT_EQ(space.constraints[0], Expression::parse("A*B <= 8"));
}

TEST(Contract, ErrorsNameFileLineAndValue) {
    EXPECT_EQ(failure("\n// strop:tune MR 6"), "kernel.cpp:2: missing '='");
    EXPECT_EQ(failure("// strop:tune 6R = 6"), "kernel.cpp:1: '6R' is not a name for a tunable");
    EXPECT_EQ(failure("// strop:tune = 6"), "kernel.cpp:1: '' is not a name for a tunable");
    EXPECT_EQ(failure("// strop:tune A ="), "kernel.cpp:1: tunable 'A' has an empty value");
    EXPECT_EQ(failure("// strop:tune A = 1 || 2"), "kernel.cpp:1: tunable 'A' has an empty value");
    EXPECT_EQ(failure("// strop:tune A = 1 | 2 |"), "kernel.cpp:1: tunable 'A' has an empty value");
    EXPECT_EQ(failure("// strop:tune A = 1 | 2 | 1"), "kernel.cpp:1: tunable 'A' has the value '1' twice");
    EXPECT_EQ(failure("// strop:tune A = true | 1"), "kernel.cpp:1: tunable 'A' has the value '1' twice");
    for (std::string value : {"99999999999999999999", "1e400", "-1e-400"})
        EXPECT_EQ(failure("// strop:tune A = 1 | " + value),
                  "kernel.cpp:1: '" + value + "' of tunable 'A' is beyond the range of its type");
    EXPECT_EQ(failure("// strop:tune A = 1\n// strop:flags A = -O2"), "kernel.cpp:2: tunable 'A' is declared twice");
    EXPECT_EQ(failure("// strop:tune A = 1\n\n// strop:require A > B"), "kernel.cpp:3: 'B' is not a tunable");
    EXPECT_EQ(failure("// strop:require 1 < 2"), "kernel.cpp:1: '1 < 2' names no tunable");
    for (std::string flag :
         {"-fplugin=x", "-o", "-B/tmp", "-Wl,-Map=x", "-include", "-fprofile-generate", "-I.", "-Xclang"})
        EXPECT_EQ(failure("// strop:flags OPT = " + flag),
                  "kernel.cpp:1: '" + flag + "' in 'OPT' is not a flag that a kernel may ask for");
    EXPECT_EQ(failure("// strop:flags OPT = -Ofast | -mprefer-vector-width=256 -mllvm -unroll-count=4 -fno-vectorize"),
              "no error");
    EXPECT_EQ(failure("// strop:flags OPT = O2"), "kernel.cpp:1: 'O2' in 'OPT' is not a compiler flag");
    EXPECT_EQ(failure("// strop:compiler CXX = g++ | clang"), "no error");
    EXPECT_EQ(failure("// strop:compiler CXX = clang | icc"),
              "kernel.cpp:1: 'icc' of tunable 'CXX' is no compiler for kernels");
    EXPECT_EQ(failure("// strop:compiler A = clang\n// strop:compiler B = g++"),
              "kernel.cpp:2: a second choice of the compiler");
    EXPECT_EQ(failure("// strop:late A = 1 | x"), "kernel.cpp:1: 'x' of tunable 'A' is not a whole number");
    EXPECT_EQ(failure("// strop:late A = 1.5"), "kernel.cpp:1: '1.5' of tunable 'A' is not a whole number");
    EXPECT_EQ(failure("// strop:tunes A = 1"), "kernel.cpp:1: unknown comment 'strop:tunes'");
    EXPECT_THAT(failure("// strop:tune A = 1\n// strop:require A * (2"), HasSubstr("kernel.cpp:2: "));
    EXPECT_THAT(failure("// strop:require"), HasSubstr("kernel.cpp:1: "));
}

TEST(Contract, DefaultIsTheFirstValueOfEach) {
    TunableSpace space = parse_tunables("// strop:tune A = 3 | 1\n// strop:tune B = x | y\n", "k");
    EXPECT_EQ(describe(default_configuration(space)), "A=3 B=x");
    EXPECT_TRUE(default_configuration({}).empty());
}

TEST(Contract, DefaultIsTheFirstValidOneInOrder) {
    TunableSpace space = parse_tunables(
        "// strop:tune A = 8 | 4 | 2\n// strop:tune B = 8 | 4 | 2\n// strop:require A * B <= 32\n"
        "// strop:require B != 4\n",
        "k");
    EXPECT_EQ(describe(default_configuration(space)), "A=8 B=2");
}

TEST(Contract, DefaultSkipsConstraintsThatCannotBeEvaluated) {
    TunableSpace space = parse_tunables("// strop:tune A = 0 | 2\n// strop:require 8 // A > 1\n", "k");
    EXPECT_EQ(describe(default_configuration(space)), "A=2");
}

TEST(Contract, DefaultOfAHugeSpaceIsFoundByPruning) {
    std::string source;
    for (int i = 0; i < 30; ++i) {
        source += "// strop:tune T" + std::to_string(i) + " = 1 | 2 | 3 | 4\n";
        source += "// strop:require T" + std::to_string(i) + " == 4\n";
    }
    Configuration found = default_configuration(parse_tunables(source, "k"));
    for (const auto& [name, value] : found) EXPECT_EQ(value, Value(int64_t{4})) << name;
}

std::string free_tunables(int count) {
    std::string source;
    for (int i = 0; i < count; ++i) source += "// strop:tune T" + std::to_string(i) + " = 1 | 2 | 3 | 4\n";
    return source;
}

TEST(Contract, TunablesThatCannotMeetAConstraintAreNotTriedForIt) {
    std::string source = "// strop:tune A = 1 | 2 | 3\n" + free_tunables(40) + "// strop:tune Z = 1 | 2\n";
    EXPECT_THROW(default_configuration(parse_tunables(source + "// strop:require Z > 5\n", "k")), UsageError);
    Configuration found =
        default_configuration(parse_tunables(source + "// strop:require Z + A > 4\n// strop:require T39 != 1\n", "k"));
    EXPECT_EQ(found["A"], Value(int64_t{3}));
    EXPECT_EQ(found["T0"], Value(int64_t{1}));
    EXPECT_EQ(found["T39"], Value(int64_t{2}));
    EXPECT_EQ(found["Z"], Value(int64_t{2}));
}

TEST(Contract, ASearchWithoutEndIsGivenUp) {
    std::string sum = "0";
    for (int i = 0; i < 40; ++i) sum += " + T" + std::to_string(i);
    TunableSpace space = parse_tunables(free_tunables(40) + "// strop:require " + sum + " > 200\n", "k");
    EXPECT_THROW(default_configuration(space), UsageError);
}

TEST(Contract, TunablesAndFlagsAreBounded) {
    EXPECT_THAT(
        failure("// strop:flags O = -f" + std::string(100000, 'a')),
        HasSubstr(
            "kernel.cpp:1: '-faaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' of tunable 'O' is 100002 characters long"));
    EXPECT_THAT(failure("// strop:tune LANES = " + std::string(50000, '8')), HasSubstr("is 50000 characters long"));
    std::string values = "// strop:tune A = 0";
    for (int i = 1; i < 1001; ++i) values += " | " + std::to_string(i);
    EXPECT_EQ(failure(values), "kernel.cpp:1: tunable 'A' has more than 1000 values");
    EXPECT_EQ(failure(std::string((1 << 20) + 1, ' ')), "kernel.cpp: a source of 1 MiB");
    std::string many;
    for (int i = 0; i < 1001; ++i) many += "// strop:tune T" + std::to_string(i) + " = 1\n";
    EXPECT_EQ(failure(many), "kernel.cpp:1001: more than 1000 tunables");
    EXPECT_EQ(failure("// strop:tune A = nan(1) | nan(1)"), "kernel.cpp:1: tunable 'A' has the value 'nan(1)' twice");
}

TEST(Contract, AKernelHasOneCompiler) {
    for (const char* flag :
         {"-flto=24", "-flto=auto", "-flto=jobserver", "-foffload=nvptx-none", "-fopenmp-targets=nvptx64"})
        EXPECT_THAT(failure(std::string("// strop:flags O = -O3 ") + flag), HasSubstr("starts compilers of its own"))
            << flag;
    for (const char* flag : {"-flto", "-flto=thin", "-flto=full"})
        EXPECT_EQ(failure(std::string("// strop:flags O = -O3 ") + flag), "no error") << flag;
}

TEST(Contract, NoValidConfigurationIsAnError) {
    TunableSpace space = parse_tunables("// strop:tune A = 1 | 2\n// strop:require A > 2\n", "k");
    EXPECT_THROW(default_configuration(space), UsageError);
}

}  // namespace
}  // namespace strop
