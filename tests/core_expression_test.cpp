#include "core/expression.h"
#include "core/expression_arrays.h"
#include "core/expression_divisions.h"
#include "core/expression_program.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <gtest/gtest.h>

#include "base/error.h"

namespace strop {
namespace {

const Bindings names = {
    {"M", int64_t{7}}, {"N", int64_t{12}}, {"Z", int64_t{0}}, {"x", 2.5}, {"flag", std::string("-O3")}};

std::string value_of(const std::string& text) { return to_string(Expression::parse(text).evaluate(names)); }

std::string complaint_of(const std::string& text) {
    try {
        Expression::parse(text).evaluate(names);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

struct Case {
    const char* text;
    const char* value;
};

class PythonMeaning : public testing::TestWithParam<Case> {};

TEST_P(PythonMeaning, Holds) { EXPECT_EQ(value_of(GetParam().text), GetParam().value) << GetParam().text; }

// Of the whole numbers among `names`; nullopt where the rest is needed.
std::optional<std::string> program_of(const std::string& text) {
    const std::vector<std::string> symbols = {"M", "N", "Z", "missing"};
    const auto place_of = [&](const std::string& name) {
        const auto found = std::find(symbols.begin(), symbols.end(), name);
        return found == symbols.end() ? -1 : static_cast<int>(found - symbols.begin());
    };
    const std::optional<ExpressionProgram> program = ExpressionProgram::of(Expression::parse(text), place_of);
    if (!program) return std::nullopt;
    try {
        return std::to_string(program->run({7, 12, 0, 0}, {1, 1, 1, 0}));
    } catch (const UsageError& error) {
        return error.what();
    }
}

TEST_P(PythonMeaning, HoldsInAProgram) {
    const std::optional<std::string> value = program_of(GetParam().text);
    if (value) EXPECT_EQ(*value, GetParam().value) << GetParam().text;
}

TEST(ExpressionProgram, SaysWhatIsNotWholeAndFailsAsTheExpressionDoes) {
    for (const char* text : {"7 / 2", "2 ** 3", "x + 1", "flag == '-O3'", "M in (6, 7)", "1.5"})
        EXPECT_EQ(program_of(text), std::nullopt) << text;
    EXPECT_EQ(program_of("M // 2 * N + ceildiv(N, 5) - min(M, N, 3) % 2"), "38");
    for (const char* text : {"M // Z", "M % Z", "missing + 1", "9223372036854775807 + M", "ceildiv(M, Z)"})
        EXPECT_EQ(program_of(text), complaint_of(text)) << text;
}

// The values are what Python prints, with 1 and 0 for True and False.
INSTANTIATE_TEST_SUITE_P(Integers, PythonMeaning,
                         testing::Values(Case{"7 // 2", "3"}, Case{"-7 // 2", "-4"}, Case{"7 // -2", "-4"},
                                         Case{"-7 // -2", "3"}, Case{"7 % 3", "1"}, Case{"-7 % 3", "2"},
                                         Case{"7 % -3", "-2"}, Case{"-7 % -3", "-1"}, Case{"6 // -3", "-2"},
                                         Case{"-6 % 3", "0"}, Case{"5 // -1", "-5"}, Case{"5 % -1", "0"},
                                         Case{"2 ** 10", "1024"}, Case{"2 ** 3 ** 2", "512"}, Case{"-2 ** 2", "-4"},
                                         Case{"(-2) ** 3", "-8"}, Case{"2 ** -1", "0.5"}, Case{"0 ** 0", "1"},
                                         Case{"(-1) ** 5001", "-1"}, Case{"1 ** 99999", "1"}, Case{"0 ** 99999", "0"},
                                         Case{"- - 3", "3"}, Case{"+3", "3"}, Case{"10 - 3 - 2", "5"},
                                         Case{"2 + 3 * 4", "14"}, Case{"100 // 7 // 2", "7"}, Case{"7 * 3 // 2", "10"},
                                         Case{"7 // 2 * 2", "6"}, Case{"-M % N", "5"}));
INSTANTIATE_TEST_SUITE_P(Floats, PythonMeaning,
                         testing::Values(Case{"7 / 2", "3.5"}, Case{"6 / 2", "3.0"}, Case{"1e3", "1000.0"},
                                         Case{".5 + .25", "0.75"}, Case{"x * 2", "5.0"}, Case{"-7.5 // 2", "-4.0"},
                                         Case{"-7.5 % 2", "0.5"}, Case{"4 ** 0.5", "2.0"}, Case{"1 + 1.", "2.0"}));
INSTANTIATE_TEST_SUITE_P(Logic, PythonMeaning,
                         testing::Values(Case{"1 < 2 < 3", "1"}, Case{"1 < 3 < 2", "0"}, Case{"3 > 2 >= 2", "1"},
                                         Case{"1 == 1.0", "1"}, Case{"M != 7", "0"}, Case{"M in (6, 7)", "1"},
                                         Case{"M in [6, 8]", "0"}, Case{"M in ()", "0"}, Case{"M not in (1, 2)", "1"},
                                         Case{"not M == 8", "1"}, Case{"not 0 and 1", "1"}, Case{"0 or 5", "5"},
                                         Case{"3 and 5", "5"}, Case{"0 and missing", "0"}, Case{"1 or missing", "1"},
                                         Case{"flag == '-O3'", "1"}, Case{"flag != \"-O2\"", "1"},
                                         Case{"flag in ('-O2', '-O3')", "1"}, Case{"flag == 3", "0"},
                                         Case{"'a' < 'b'", "1"}, Case{"True and not False", "1"},
                                         Case{"M > 5 && N > 5 || Z", "1"}, Case{"!Z", "1"}));
INSTANTIATE_TEST_SUITE_P(Functions, PythonMeaning,
                         testing::Values(Case{"min(3, 1, 2)", "1"}, Case{"max(M, N)", "12"}, Case{"abs(-4)", "4"},
                                         Case{"abs(-2.5)", "2.5"}, Case{"ceildiv(7, 2)", "4"},
                                         Case{"ceildiv(8, 2)", "4"}, Case{"ceildiv(-7, 2)", "-3"},
                                         Case{"min(M, x)", "2.5"}, Case{"max(5)", "5"}));

class RoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, KeepsTextAndValue) {
    Expression once = Expression::parse(GetParam());
    Expression twice = Expression::parse(once.text());
    EXPECT_EQ(once.text(), twice.text());
    EXPECT_EQ(once, twice);
    EXPECT_EQ(to_string(once.evaluate(names)), to_string(twice.evaluate(names))) << once.text();
}

INSTANTIATE_TEST_SUITE_P(Expressions, RoundTrip,
                         testing::Values("M", "M-(N-1)", "(M-N)-1", "M*(N+1)", "(M*N)+1", "M//(N//2)", "(M//N)//2",
                                         "M*(N//2)", "(2**3)**2", "2**(3**2)", "(-2)**2", "-2**2", "2**-M", "-(M+N)",
                                         "-(-M)", "M - -3", "not (M and N)", "not M == N", "(not M) == N",
                                         "(M or N) and Z", "M or N and Z", "M < (N < Z)", "(M < N) < Z",
                                         "M < N <= 12 != 3", "M in (N, 7, 1+1)", "M not in (8,)",
                                         "min(M, max(N, 3), Z)", "ceildiv(M+1, 4)*4", "1.5e-7*M", "'a b' == flag",
                                         "(N + 2*1 - 1*(3 - 1) - 1)//2 + 1", "abs(M - N) % 4", "x/2/3", "x/(2/3)"));

TEST(Expression, PrintsMinimalParentheses) {
    EXPECT_EQ(Expression::parse("((M))*(N)").text(), "M*N");
    EXPECT_EQ(Expression::parse("(M+N)*2").text(), "(M + N)*2");
    EXPECT_EQ(Expression::parse("M-(N-1)").text(), "M - (N - 1)");
    EXPECT_EQ(Expression::parse("(M-N)-1").text(), "M - N - 1");
}

TEST(Expression, OverflowIsAnErrorAndNeverWraps) {
    for (const char* text : {"9223372036854775807 + 1", "-9223372036854775807 - 2", "4294967296 * 4294967296",
                             "2 ** 63", "3 ** 99999", "(-3) ** 5001", "-(-9223372036854775807 - 1)",
                             "abs(-9223372036854775807 - 1)", "(-9223372036854775807 - 1) // -1"})
        EXPECT_NE(complaint_of(text).find("overflow"), std::string::npos) << text << ": " << complaint_of(text);
    EXPECT_EQ(value_of("9223372036854775807"), "9223372036854775807");
    EXPECT_EQ(value_of("2 ** 62"), "4611686018427387904");
    EXPECT_EQ(value_of("(-9223372036854775807 - 1) % -1"), "0");
}

TEST(Expression, EvaluationErrorsNameTheCause) {
    EXPECT_EQ(complaint_of("M + missing"), "'missing' is not defined");
    for (const char* text : {"1 // 0", "1 % Z", "1 / 0", "1.5 // 0", "1.5 % 0.0", "ceildiv(1, 0)"})
        EXPECT_EQ(complaint_of(text), "division by zero") << text;
    EXPECT_NE(complaint_of("flag + 1").find("'-O3' is a text"), std::string::npos);
    EXPECT_NE(complaint_of("flag < 1").find("'-O3' is a text"), std::string::npos);
}

TEST(Expression, ParseErrorsNameTheColumn) {
    struct Bad {
        const char* text;
        const char* complaint;
    };
    for (const Bad& bad : {Bad{"(M + 1", "expected ')' at column 7"},
                           Bad{"M +", "unexpected end at column 4"},
                           Bad{"", "unexpected end at column 1"},
                           Bad{"  ", "unexpected end"},
                           Bad{"M N", "unexpected 'N' at column 3"},
                           Bad{"M ''", "at column 3"},
                           Bad{"M = 3", "unexpected '=' at column 3"},
                           Bad{"sqrt(M)", "unknown function 'sqrt'"},
                           Bad{"abs(1, 2)", "wrong number of arguments"},
                           Bad{"min()", "wrong number of arguments"},
                           Bad{"ceildiv(1)", "wrong number of arguments"},
                           Bad{"'abc", "unterminated text"},
                           Bad{"M in 3", "expected '('"},
                           Bad{"M not 3", "expected 'in'"},
                           Bad{"M * and", "unexpected 'and'"},
                           Bad{"(or)", "unexpected 'or'"},
                           Bad{"1..2", "unexpected '.2'"},
                           Bad{"1e", "not a number"},
                           Bad{".", "not a number"},
                           Bad{"99999999999999999999", "not a number"},
                           Bad{"M $ 2", "unexpected '$'"},
                           Bad{"M ** ", "unexpected end"},
                           Bad{"M[0]", "unexpected '['"}}) {
        std::string complaint = complaint_of(bad.text);
        EXPECT_NE(complaint.find(bad.complaint), std::string::npos) << bad.text << ": " << complaint;
    }
}

TEST(Expression, DeepOrLongTextsAreRefused) {
    std::string deep(1000, '(');
    EXPECT_NE(complaint_of(deep + "1" + std::string(1000, ')')).find("too deeply nested"), std::string::npos);
    EXPECT_NE(complaint_of(std::string(1000, '-') + "1").find("too deeply nested"), std::string::npos);
    std::string nots;
    for (int i = 0; i < 500; ++i) nots += "not ";
    EXPECT_NE(complaint_of(nots + "1").find("too deeply nested"), std::string::npos);
    std::string chain = "1";
    for (int i = 0; i < 100000; ++i) chain += "+1";
    EXPECT_NE(complaint_of(chain).find("characters"), std::string::npos);
    EXPECT_EQ(value_of(chain.substr(0, 2001)), "1001");
    EXPECT_EQ(value_of(std::string(50, '(') + "1" + std::string(50, ')')), "1");
}

TEST(Expression, WholeNumbers) {
    EXPECT_EQ(Expression::parse("N / 4").evaluate_integer(names), 3);
    EXPECT_THROW(Expression::parse("N / 5").evaluate_integer(names), UsageError);
    EXPECT_THROW(Expression::parse("'text'").evaluate_integer(names), UsageError);
    EXPECT_THROW(Expression::parse("1e300").evaluate_integer(names), UsageError);
}

TEST(Expression, SymbolsAndLiterals) {
    EXPECT_EQ(Expression::parse("min(M, 3) + K % M in (Q, 1)").symbols(), (std::set<std::string>{"K", "M", "Q"}));
    EXPECT_TRUE(Expression::parse("3").is_literal(3));
    EXPECT_FALSE(Expression::parse("3.0").is_literal(3));
    EXPECT_FALSE(Expression::parse("M").is_literal());
    EXPECT_TRUE(Expression::symbol("M").is_symbol());
    EXPECT_TRUE(Expression().is_literal(0));
}

TEST(Expression, OperatorsFoldLiterals) {
    Expression m = Expression::symbol("M");
    EXPECT_EQ(m * 1, m);
    EXPECT_EQ(m + 0, m);
    EXPECT_EQ(0 + m, m);
    EXPECT_EQ(m - m, Expression(0));
    EXPECT_EQ(m * 0, Expression(0));
    EXPECT_EQ(Expression::floor_divide(m, 1), m);
    EXPECT_EQ(Expression(6) * 7, Expression(42));
    EXPECT_EQ(Expression::floor_divide(-7, 2), Expression(-4));
    EXPECT_FALSE(m == Expression::symbol("N"));
    EXPECT_EQ(((m + 1) * 2).text(), "(M + 1)*2");
}

TEST(Expression, SubstituteReplacesEverySymbolAtOnce) {
    Expression swapped =
        Expression::parse("M - 2*N").substitute({{"M", Expression::symbol("N")}, {"N", Expression::symbol("M")}});
    EXPECT_EQ(swapped.text(), "N - 2*M");
    EXPECT_EQ(Expression::parse("M*stride + min(M, 3)").substitute({{"stride", 1}}).text(), "M + min(M, 3)");
    EXPECT_TRUE(Expression::parse("a*b").substitute({{"a", 6}, {"b", 7}}).is_literal(42));
}

TEST(Expression, CppKeepsTheMeaning) {
    auto cpp = [](const char* text) { return Expression::parse(text).cpp(); };
    EXPECT_EQ(cpp("(M + 3)//4*4"), "(M + 3) / 4 * 4");
    EXPECT_EQ(cpp("M//(N//2)"), "M / (N / 2)");
    EXPECT_EQ(cpp("M % 8 == 0 and N > 4"), "M % 8 == 0 && N > 4");
    EXPECT_EQ(cpp("M and N or Z"), "(M && N) || Z");
    EXPECT_EQ(cpp("not M == N"), "!(M == N)");
    EXPECT_EQ(cpp("not M"), "!M");
    EXPECT_EQ(cpp("- -M"), "-(-M)");
    EXPECT_EQ(cpp("M in (1, 2)"), "(M == 1 || M == 2)");
    EXPECT_EQ(cpp("M not in (1, 2)"), "!(M == 1 || M == 2)");
    EXPECT_EQ(cpp("M in ()"), "(false)");
    EXPECT_EQ(cpp("1 < M <= 4"), "(1 < M && M <= 4)");
    EXPECT_EQ(cpp("min(M, N, 3)"), "std::min<int64_t>(std::min<int64_t>(M, N), 3)");
    EXPECT_EQ(cpp("4*ceildiv(M, 2)"), "4 * ((M + 2 - 1) / 2)");
    EXPECT_EQ(cpp("M/2 <= 3"), "double(M) / double(2) <= 3");
    EXPECT_EQ(cpp("flag == '-O3'"), "flag == \"-O3\"");
}

TEST(Expression, DivisionsAreFoundInnerOnesFirst) {
    const Expression expression = Expression::parse("(a // b + ceildiv(c, 4)) % d < e / f");
    std::string found;
    for (const auto& [left, right] : divisions_in(expression)) found += left.text() + " by " + right.text() + "; ";
    EXPECT_EQ(found, "a by b; c by 4; a//b + ceildiv(c, 4) by d; ");
}

TEST(Expression, RemaindersAreExactAtTheEdges) {
    EXPECT_EQ(value_of("(-9223372036854775807 - 1) % 3"), "1");
    EXPECT_EQ(value_of("9223372036854775807 % -3"), "-2");
}

TEST(Expression, TextsKeepTheirQuotes) {
    EXPECT_EQ(Expression::parse("flag == \"it's\"").text(), "flag == \"it's\"");
    EXPECT_EQ(Expression::parse("flag == 'a \"b\" \\'").text(), "flag == 'a \"b\" \\'");
    EXPECT_EQ(Expression::parse("flag == 'a \"b\" \\'").cpp(), "flag == \"a \\\"b\\\" \\\\\"");
}

TEST(Expression, CppThatWouldDoubleWithEveryLevelIsRefused) {
    std::string nested = "M";
    for (int i = 0; i < 60; ++i) nested = "ceildiv(N, " + nested + ")";
    EXPECT_EQ(Expression::parse(nested).text(), nested);
    EXPECT_THROW(Expression::parse(nested).cpp(), UsageError);
}

TEST(Value, TextIsPythons) {
    EXPECT_EQ(to_string(Value(int64_t{-3})), "-3");
    EXPECT_EQ(to_string(Value(2.0)), "2.0");
    EXPECT_EQ(to_string(Value(0.1)), "0.1");
    EXPECT_EQ(to_string(Value(1e-5)), "1e-05");
    EXPECT_EQ(to_string(Value(std::string("a"))), "a");
    EXPECT_FALSE(truthy(Value(std::string())));
    EXPECT_FALSE(truthy(Value(0.0)));
    EXPECT_TRUE(truthy(Value(int64_t{-1})));
    EXPECT_TRUE(std::isnan(to_double(Value(std::string("1")))));
}

TEST(Expression, OverArraysTruthValuesAreJoinedBySigns) {
    auto arrays = [](const char* text) { return over_arrays(Expression::parse(text)); };
    EXPECT_EQ(arrays("(i + 1) * N % K"), "(i + 1)*N%K");
    EXPECT_EQ(arrays("i >= 0 and i < N and j < M"), "(i >= 0) & (i < N) & (j < M)");
    EXPECT_EQ(arrays("i < 0 or i >= 2 and j < M"), "(i < 0) | (i >= 2) & (j < M)");
    EXPECT_EQ(arrays("(i < 0 or j < 0) and k < 0"), "((i < 0) | (j < 0)) & (k < 0)");
    EXPECT_EQ(arrays("not (i < N)"), "~(i < N)");
    EXPECT_EQ(arrays("0 <= i < N"), "((0 <= i) & (i < N))");
    EXPECT_EQ(arrays("i in (1, 2)"), "((i == 1) | (i == 2))");
}

}  // namespace
}  // namespace strop
