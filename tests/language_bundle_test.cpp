#include <dlfcn.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "language/bundle.h"
#include "language/contract.h"

namespace strop {
namespace {

// y[i] = x[i] * a + M, so that the caller sees which kernel ran by the factor that it wrote.
Problem scale_problem() {
    Problem problem;
    problem.name = "scale";
    problem.dimensions = {"M", "N"};
    std::vector<Expression> shape = {Expression::symbol("M"), Expression::symbol("N")};
    problem.inputs = {{"x", DType::float32, shape, Fill::normal, {}}};
    problem.outputs = {{"y", DType::float32, shape, Fill::normal, {}}};
    problem.parameters = {{"pad", DType::int64, 1}};
    return problem;
}

const char* serial_source =
    R"(// Writes 10 times x. The entry is extern "C" void scale(...), as the contract says.
// strop:tune UNROLL = 1 | 2 | 4
// strop:tune SHARE = 0.5 | 0.25
// strop:require UNROLL <= 4
// strop:flags OPT = -O2 | -O3 -funroll-loops
#pragma once
#include <stdint.h>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#define TIMES(a) ((a) * 10)

typedef float vec __attribute__((vector_size(4 * UNROLL)));

static float helper(float value) { return TIMES(value); }   // strop:tune UNUSED = 1

template <int Step>
static void walk(const float* x, float* y, int64_t count) {
    for (int64_t i = 0; i < count; i += Step)
        for (int64_t j = i; j < count && j < i + Step; ++j) y[j] = helper(x[j]);
}

extern "C"
void scale(
        const float* x,
        float* y, int64_t pad,
        int64_t M, int64_t N) {
    static thread_local std::vector<float> scratch;
    scratch.assign(sizeof(vec), static_cast<float>(SHARE + pad));
    walk<UNROLL>(x, y, M * N);
}
)";

const char* parallel_source = R"(// strop:tune UNROLL = 8 | 16
// strop:tune MODE = fast | slow
#include <stdint.h>
#include <algorithm>
#define TIMES(a) ((a) * 20)
enum Mode { fast, slow };
#if UNROLL > 8
constexpr int64_t step = UNROLL;
#else
constexpr int64_t step = 8;
#endif
static float helper(float value) { return MODE == slow ? TIMES(value) : 0; }
extern "C" {
void scale(const float* x, float* y, int64_t, int64_t M, int64_t N) {
    const char* text = "extern \"C\" void scale(";
    auto body = [&](int64_t i) { y[i] = helper(x[i]) + static_cast<float>(text[0] == 'x'); };
#pragma omp parallel for
    for (int64_t i = 0; i < M * N; i += step)
        for (int64_t j = i; j < std::min(M * N, i + step); ++j) body(j);
}
}
)";

DispatchWinner winner(const std::string& id, const std::string& source, const std::vector<Tunable>& tunables,
                      const Configuration& configuration) {
    DispatchWinner result;
    result.kernel.id = id;
    result.kernel.source = source;
    result.kernel.space.tunables = tunables;
    result.configuration = configuration;
    return result;
}

DispatchWinner serial() {
    return winner("serial+x", serial_source,
                  {{"UNROLL", {int64_t{4}}, Tunable::Kind::constant},
                   {"SHARE", {0.5}, Tunable::Kind::constant},
                   {"OPT", {"-O3 -funroll-loops"}, Tunable::Kind::flags}},
                  {{"UNROLL", int64_t{4}}, {"SHARE", 0.5}, {"OPT", "-O3 -funroll-loops"}});
}

DispatchWinner parallel() {
    return winner("parallel", parallel_source,
                  {{"UNROLL", {int64_t{16}}, Tunable::Kind::constant}, {"MODE", {"slow"}, Tunable::Kind::constant}},
                  {{"UNROLL", int64_t{16}}, {"MODE", "slow"}});
}

DispatchNode branch(const std::string& feature, int64_t threshold, int yes, int no) {
    return {-1, Expression::parse(feature), threshold, yes, no};
}
DispatchNode leaf(int index) { return {index, {}, 0, -1, -1}; }

// Compiles with warnings as errors and calls it.
class Compiled {
public:
    using Function = void (*)(const float*, float*, int64_t, int64_t, int64_t);

    explicit Compiled(const std::string& source, const std::string& compiler = "g++") {
        folder_ = std::filesystem::temp_directory_path() / ("strop-bundle-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ / "k.cpp") << source;
        std::string library = (folder_ / ("k" + std::to_string(++count_) + ".so")).string();
        std::string command = compiler +
                              " -std=c++17 -O1 -fopenmp -Wall -Wextra -Werror -Wno-unused -Wno-unknown-pragmas "
                              "-shared -fPIC " +
                              (folder_ / "k.cpp").string() + " -o " + library + " 2>&1";
        compiles = std::system(command.c_str()) == 0;
        if (compiles) library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library_) function_ = reinterpret_cast<Function>(dlsym(library_, "scale"));
    }
    ~Compiled() {
        // OpenMP's threads may still be in the library: it stays open.
        std::filesystem::remove_all(folder_);
    }
    Compiled(const Compiled&) = delete;
    Compiled& operator=(const Compiled&) = delete;

    // The factor that the kernel called at this shape applies; 0 when it wrote nothing.
    float factor(int64_t m, int64_t n) const {
        std::vector<float> x(static_cast<size_t>(std::max<int64_t>(m * n, 1)), 1), y(x.size(), 0);
        function_(x.data(), y.data(), 1, m, n);
        for (float value : y) EXPECT_EQ(value, y[0]);
        return y[0];
    }

    bool compiles = false;

private:
    static inline int count_ = 0;
    std::filesystem::path folder_;
    void* library_ = nullptr;
    Function function_ = nullptr;
};

DispatchTree three_leaves() {
    return {{branch("M*N", 64, 1, 2), leaf(0), branch("N", 512, 3, 4), leaf(1), leaf(0)}, 0};
}

TEST(Bundle, CompilesAloneAndCallsTheWinnerOfEachRegime) {
    std::string text = bundle(scale_problem(), {serial(), parallel()}, three_leaves(), {});
    Compiled compiled(text);
    ASSERT_TRUE(compiled.compiles) << text;
    EXPECT_EQ(compiled.factor(8, 8), 10);
    EXPECT_EQ(compiled.factor(13, 5), 20);
    EXPECT_EQ(compiled.factor(1, 512), 20);
    EXPECT_EQ(compiled.factor(1, 513), 10);
    EXPECT_EQ(compiled.factor(0, 5), 0);
    EXPECT_EQ(compiled.factor(5, 0), 0);
}

TEST(Bundle, HasNoTraceOfTunablesAndOneIncludeEach) {
    std::string text = bundle(scale_problem(), {serial(), parallel()}, three_leaves(), {});
    EXPECT_EQ(text.find("strop:tune"), std::string::npos) << text;
    EXPECT_EQ(text.find("#pragma once"), std::string::npos);
    size_t first = text.find("#include <stdint.h>");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("#include <stdint.h>", first + 1), std::string::npos);
    EXPECT_LT(text.rfind("#include"), text.find("namespace"));
    EXPECT_NE(text.find("#if defined(_OPENMP)\n#include <omp.h>\n#endif"), std::string::npos) << text;
    EXPECT_NE(text.find("// Tuned: UNROLL = 4, SHARE = 0.5, OPT = -O3 -funroll-loops"), std::string::npos) << text;
}

TEST(Bundle, SpellsWholeNumbersAsConstantsAndTheRestAsMacrosThatItUndoes) {
    std::string text = bundle(scale_problem(), {serial(), parallel()}, three_leaves(), {});
    EXPECT_NE(text.find("constexpr int UNROLL = 4;"), std::string::npos) << text;
    for (const char* macro : {"#define SHARE 0.5", "#define UNROLL 16", "#define MODE slow", "#undef SHARE",
                              "#undef UNROLL", "#undef MODE", "#undef TIMES"})
        EXPECT_NE(text.find(macro), std::string::npos) << macro;
}

TEST(Bundle, ExportsOneFunctionOnly) {
    std::string text = bundle(scale_problem(), {serial(), parallel()}, three_leaves(), {});
    size_t entry = text.rfind("extern \"C\" void scale(");
    ASSERT_NE(entry, std::string::npos);
    EXPECT_GT(entry, text.rfind("}  // namespace scale_detail"));
    EXPECT_NE(text.find("const char* text = \"extern \\\"C\\\" void scale(\""), std::string::npos) << "texts stay";
}

TEST(Bundle, CompilesWithClangToo) {
    if (std::system("command -v clang++-19 >/dev/null 2>&1") != 0) GTEST_SKIP() << "no clang++-19";
    EXPECT_TRUE(Compiled(bundle(scale_problem(), {serial(), parallel()}, three_leaves(), {}), "clang++-19").compiles);
}

TEST(Bundle, ChecksAKernelsConditionBeforeTheCall) {
    DispatchWinner narrow = parallel();
    narrow.kernel.condition = Expression::parse("N % 8 == 0 and min(M, N) >= pad");
    DispatchTree tree{{branch("M*N", 64, 1, 2), leaf(0), leaf(1)}, 0};
    std::string text = bundle(scale_problem(), {serial(), narrow}, tree, {});
    Compiled compiled(text);
    ASSERT_TRUE(compiled.compiles) << text;
    EXPECT_EQ(compiled.factor(10, 16), 20);
    EXPECT_EQ(compiled.factor(10, 17), 10);
    EXPECT_EQ(compiled.factor(1, 1), 10);
}

TEST(Bundle, CallsASingleKernelDirectly) {
    std::string text = bundle(scale_problem(), {serial()}, {{leaf(0)}, 0}, {});
    EXPECT_EQ(text.find(" else "), std::string::npos);
    EXPECT_NE(text.find("    scale_detail::serial_x::scale(x, y, pad, M, N);\n"), std::string::npos) << text;
    Compiled compiled(text);
    ASSERT_TRUE(compiled.compiles) << text;
    EXPECT_EQ(compiled.factor(3, 3), 10);
    EXPECT_EQ(bundle(scale_problem(), {serial()}, {}, {}).find("if (M == 0 || N == 0) return;") == std::string::npos,
              false);
}

TEST(Bundle, TellsTwoConfigurationsOfOneKernelApart) {
    DispatchWinner other = serial();
    other.configuration["UNROLL"] = int64_t{1};
    DispatchTree tree{{branch("N", 9, 1, 2), leaf(0), leaf(1)}, 0};
    std::string text = bundle(scale_problem(), {serial(), other}, tree, {});
    EXPECT_TRUE(Compiled(text).compiles) << text;
    EXPECT_NE(text.find("namespace serial_x_2 {"), std::string::npos);
}

TEST(Bundle, MakesAnIdentifierOfAnyKernelId) {
    for (const char* id : {"default", "2pass", "a--b", "std", "", "_x", "größe"}) {
        DispatchWinner odd = serial();
        odd.kernel.id = id;
        EXPECT_TRUE(Compiled(bundle(scale_problem(), {odd}, {{leaf(0)}, 0}, {})).compiles) << id;
    }
}

TEST(Bundle, CarriesTheNotes) {
    BundleNotes notes;
    notes.header = "scale, measured somewhere\n\nby a run";
    notes.winners[0] = "serial: 12 ns";
    notes.leaves[1] = "small: 1.50x";
    std::string text = bundle(scale_problem(), {serial(), parallel()}, three_leaves(), notes);
    EXPECT_EQ(text.find("// scale, measured somewhere\n//\n// by a run\n\n// Built by strop with\n"), 0u) << text;
    EXPECT_LT(text.find("// serial: 12 ns\n"), text.find("namespace serial_x {"));
    EXPECT_NE(text.find("        // small: 1.50x\n        scale_detail::serial_x::scale("), std::string::npos) << text;
    EXPECT_TRUE(Compiled(text).compiles);
}

// A compiler and flags that were measured are part of the winner: who judges the text alone has them, too.
TEST(Bundle, IsBuiltAsItWasMeasuredWhereverItIsJudged) {
    DispatchWinner own = serial();
    own.kernel.space.tunables.push_back({"CXX", {Value("clang"), Value("g++")}, Tunable::Kind::compiler});
    own.configuration["CXX"] = Value("g++");
    const std::string text = bundle(scale_problem(), {own}, {{leaf(0)}, 0}, {});
    const TunableSpace space = parse_tunables(text, "scale.cpp");
    const Configuration only = default_configuration(space);
    EXPECT_EQ(compiler_of(space, only), "g++");
    EXPECT_EQ(to_string(only.at("FLAGS")), bundle_flags({own})) << text;
    EXPECT_NE(bundle_flags({own}), "");
    EXPECT_EQ(bundle(scale_problem(), {parallel()}, {{leaf(0)}, 0}, {}).find("strop:"), std::string::npos);
}

TEST(Bundle, KeepsExternalDeclarationsOfOthers) {
    DispatchWinner own = serial();
    own.kernel.source =
        "#include <stdint.h>\nextern \"C\" int abs(int);\n"
        "extern \"C\" void scale(const float* x, float* y, int64_t, int64_t M, int64_t N);\n"
        "extern \"C\" void scale(const float* x, float* y, int64_t, int64_t M, int64_t N) {\n"
        "    for (int64_t i = 0; i < M * N; ++i) y[i] = x[i] * float(abs(-7));\n}\n";
    std::string text = bundle(scale_problem(), {own}, {{leaf(0)}, 0}, {});
    EXPECT_NE(text.find("extern \"C\" int abs(int);"), std::string::npos);
    Compiled compiled(text);
    ASSERT_TRUE(compiled.compiles) << text;
    EXPECT_EQ(compiled.factor(2, 2), 7);
}

TEST(BundleFlags, TheCompilerIsWhatAWinnerAsksFor) {
    DispatchWinner asks = serial();
    EXPECT_EQ(bundle_compiler({asks, parallel()}), "");
    asks.kernel.space.tunables.push_back({"CXX", {"clang", "g++"}, Tunable::Kind::compiler});
    EXPECT_EQ(bundle_compiler({parallel(), asks}), "clang");
    asks.configuration["CXX"] = "g++";
    EXPECT_EQ(bundle_compiler({parallel(), asks}), "g++");
}

TEST(BundleFlags, AreTheUnionWithTheHighestLevel) {
    DispatchWinner a = serial(), b = serial();
    b.configuration["OPT"] = "-O2 -fno-math-errno -funroll-loops";
    EXPECT_EQ(bundle_flags({b, a}), "-O3 -fno-math-errno -funroll-loops");
    EXPECT_EQ(bundle_flags({parallel()}), "");
    EXPECT_EQ(bundle_flags({}), "");
}

}  // namespace
}  // namespace strop
