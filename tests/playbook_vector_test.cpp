// The vector helpers, compiled and compared with the C library in double precision; and the text of pointwise
// code.
#include <dlfcn.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/strings.h"
#include "playbook/doubles.h"
#include "playbook/plain_loops.h"
#include "playbook/pointwise.h"
#include "playbook/vector_code.h"

namespace strop::playbook {
namespace {

// A library with apply_NAME(x, y, n) for every expression over `v`; `flags` choose vector length and target.
class Library {
public:
    Library(const std::map<std::string, std::string>& expressions, const std::set<std::string>& helpers,
            const std::string& flags) {
        compile(source(expressions, helpers), flags);
    }
    explicit Library(const std::string& text, const std::string& flags = "-std=c++20 -march=native") {
        compile(text, flags);
    }

    static std::string source(const std::map<std::string, std::string>& expressions,
                              const std::set<std::string>& helpers) {
        std::set<std::string> used = helpers;
        used.insert({"load_tail", "store_tail", "load", "store"});
        std::string text = vector_prelude(used);
        for (const std::pair<const std::string, std::string>& entry : expressions)
            text += fmt::format(
                "extern \"C\" void apply_{}(const float* x, float* y, long n) {{\n"
                "    for (long j = 0; j < n; j += VL) {{\n"
                "        const long lanes = n - j < VL ? n - j : VL;\n"
                "        vec v = load_tail(x + j, lanes);\n"
                "        store_tail(y + j, {}, lanes);\n    }}\n}}\n",
                entry.first, entry.second);
        return text;
    }

    template <class T = float>
    std::vector<T> operator()(const std::string& name, const std::vector<T>& x) const {
        std::vector<T> y(x.size());
        using Apply = void (*)(const T*, T*, long);
        Apply apply = handle_ ? reinterpret_cast<Apply>(dlsym(handle_, ("apply_" + name).c_str())) : nullptr;
        EXPECT_NE(apply, nullptr) << name;
        if (apply) apply(x.data(), y.data(), static_cast<long>(x.size()));
        return y;
    }

private:
    void compile(const std::string& text, const std::string& flags) {
        static int count = 0;
        std::string base = fmt::format("{}/strop_vector_{}_{}", ::testing::TempDir(), getpid(), count++);
        std::ofstream(base + ".cpp") << text;
        const char* compiler = std::system("command -v clang++-19 >/dev/null") == 0 ? "clang++-19" : "c++";
        std::string command =
            fmt::format("{} -O2 {} -Wno-psabi -shared -fPIC -o {}.so {}.cpp", compiler, flags, base, base);
        EXPECT_EQ(std::system(command.c_str()), 0) << text;
        handle_ = dlopen((base + ".so").c_str(), RTLD_NOW);
        std::remove((base + ".cpp").c_str());
        std::remove((base + ".so").c_str());
    }

    void* handle_ = nullptr;
};

struct Function {
    const char* name;
    const char* helper;
    double (*exact)(double);
    double low, high, ulps;
    bool fused = false;  // its error is stated for fused multiply-adds
};

const std::vector<Function> functions = {
    {"exp", "vexp", [](double a) { return std::exp(a); }, -86.9, 88.7, 1.1},
    {"exp_nonpositive", "vexp_nonpositive", [](double a) { return std::exp(a); }, -10, 0, 1.3, true},
    {"exp_nonpositive_small", "vexp_nonpositive", [](double a) { return std::exp(a); }, -86.9, 0, 5, true},
    {"exp2", "vexp2", [](double a) { return std::exp2(a); }, -125, 127.9, 1.3},
    {"expm1", "vexpm1", [](double a) { return std::expm1(a); }, -80, 88, 2},
    {"expm1_small", "vexpm1", [](double a) { return std::expm1(a); }, -1, 1, 2},
    {"log", "vlog", [](double a) { return std::log(a); }, 1e-30, 1e9, 1.1},
    {"log_near_one", "vlog", [](double a) { return std::log(a); }, 0.5, 2, 1.1},
    {"log1p", "vlog1p", [](double a) { return std::log1p(a); }, -0.9, 10, 2},
    {"tanh", "vtanh", [](double a) { return std::tanh(a); }, -12, 12, 3},
    {"tanh_small", "vtanh", [](double a) { return std::tanh(a); }, -1e-3, 1e-3, 3},
    {"erf", "verf", [](double a) { return std::erf(a); }, -5, 5, 2},
    {"atan", "vatan", [](double a) { return std::atan(a); }, -20, 20, 3},
    {"atan_small", "vatan", [](double a) { return std::atan(a); }, -0.5, 0.5, 3},
    {"sigmoid", "vsigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }, -80, 80, 4},
    {"sin", "vsin", [](double a) { return std::sin(a); }, -1e5, 1e5, 2},
    {"cos", "vcos", [](double a) { return std::cos(a); }, -1e5, 1e5, 2},
    {"sqrt", "vsqrt", [](double a) { return std::sqrt(a); }, 0, 1e9, 0.51},
    {"floor", "vfloor", [](double a) { return std::floor(a); }, -1e4, 1e4, 0.01},
    {"round", "vround", [](double a) { return std::nearbyint(a); }, -1e4, 1e4, 0.01},
    {"sign", "vsign", [](double a) { return static_cast<double>((a > 0) - (a < 0)); }, -2, 2, 0.01},
};

double error_in_ulps(float got, double want) {
    const float near = std::abs(static_cast<float>(want));
    const double ulp = std::max(std::nextafter(near, INFINITY) - near, 1e-44f);
    return std::abs(got - want) / ulp;
}

class VectorMath : public ::testing::TestWithParam<const char*> {
protected:
    static Library library(const char* flags) {
        std::map<std::string, std::string> expressions;
        std::set<std::string> helpers;
        for (const Function& f : functions) {
            expressions[f.name] = std::string(f.helper) + "(v)";
            helpers.insert(f.helper);
        }
        return Library(expressions, helpers, flags);
    }
};

TEST_P(VectorMath, stays_within_the_stated_error) {
    Library apply = library(GetParam());
    const bool fused = std::string(GetParam()).find("native") != std::string::npos;
    for (const Function& f : functions) {
        if (f.fused && !fused) continue;
        std::vector<float> x;
        for (int i = 0; i <= 40000; ++i) x.push_back(static_cast<float>(f.low + (f.high - f.low) * i / 40000));
        std::vector<float> y = apply(f.name, x);
        for (size_t i = 0; i < x.size(); ++i) {
            double want = f.exact(x[i]);
            ASSERT_LE(error_in_ulps(y[i], want), f.ulps) << f.name << "(" << x[i] << ") = " << y[i];
        }
    }
}

struct DoubleFunction {
    const char* name;
    const char* helper;
    long double (*exact)(long double);
    double low, high, ulps;
    bool of_one = false;  // ulps of 1, where the result is smaller
};

const std::vector<DoubleFunction> double_functions = {
    {"exp", "vexp", [](long double a) { return std::exp(a); }, -707.9, 709.7, 1.5},
    {"exp_nonpositive", "vexp_nonpositive", [](long double a) { return std::exp(a); }, -707.9, 0, 1.5},
    {"exp2", "vexp2", [](long double a) { return std::exp2(a); }, -1021, 1023.9, 1.5},
    {"expm1", "vexpm1", [](long double a) { return std::expm1(a); }, -80, 709, 2},
    {"expm1_small", "vexpm1", [](long double a) { return std::expm1(a); }, -1, 1, 2},
    {"log", "vlog", [](long double a) { return std::log(a); }, 1e-300, 1e19, 1.5},
    {"log_near_one", "vlog", [](long double a) { return std::log(a); }, 0.5, 2, 1.5},
    {"log1p", "vlog1p", [](long double a) { return std::log1p(a); }, -0.9, 10, 2.5},
    {"tanh", "vtanh", [](long double a) { return std::tanh(a); }, -22, 22, 3},
    {"tanh_small", "vtanh", [](long double a) { return std::tanh(a); }, -1e-3, 1e-3, 3},
    {"erf", "verf", [](long double a) { return std::erf(a); }, -7, 7, 3},
    {"atan", "vatan", [](long double a) { return std::atan(a); }, -20, 20, 2},
    {"sigmoid", "vsigmoid", [](long double a) { return 1 / (1 + std::exp(-a)); }, -600, 600, 4},
    {"sin", "vsin", [](long double a) { return std::sin(a); }, -1e6, 1e6, 2, true},
    {"cos", "vcos", [](long double a) { return std::cos(a); }, -1e6, 1e6, 2, true},
    {"abs", "vabs", [](long double a) { return std::abs(a); }, -5, 5, 0.01},
    {"sqrt", "vsqrt", [](long double a) { return std::sqrt(a); }, 0, 1e9, 0.51},
    {"floor", "vfloor", [](long double a) { return std::floor(a); }, -1e4, 1e4, 0.01},
    {"round", "vround", [](long double a) { return std::nearbyint(a); }, -1e4, 1e4, 0.01},
};

// At 40,000 places of each function, to its units in the last place and `slack` more.
void expect_digits_of_doubles(const Library& apply, const std::set<std::string>& names, double slack = 0) {
    for (const DoubleFunction& f : double_functions) {
        if (!names.contains(f.name)) continue;
        std::vector<double> x = {f.low, f.high};
        for (int i = 1; i < 40000; ++i) x.push_back(f.low + (f.high - f.low) * i / 40000.1);
        const std::vector<double> y = apply(f.name, x);
        for (size_t i = 0; i < x.size(); ++i) {
            const long double want = f.exact(x[i]);
            const double near = f.of_one ? 0.9 : std::abs(static_cast<double>(want));
            const long double ulp = std::nextafter(near, INFINITY) - near;
            ASSERT_LE(std::abs(y[i] - want) / ulp, f.ulps + slack) << f.name << "(" << x[i] << ") = " << y[i];
        }
    }
    const double inf = INFINITY, nan = NAN;
    for (const std::string& name : names) EXPECT_TRUE(std::isnan(apply(name, std::vector<double>{1, nan})[1])) << name;
    EXPECT_EQ(apply("exp", std::vector<double>{inf, -inf, 710.5, -709}), (std::vector<double>{inf, 0, inf, 0}));
    EXPECT_EQ(apply("log", std::vector<double>{inf, 0, 1}), (std::vector<double>{inf, -inf, 0}));
    EXPECT_NEAR(apply("log", std::vector<double>{5e-324})[0], std::log(5e-324), 1e-12);
    EXPECT_EQ(apply("tanh", std::vector<double>{inf, -inf}), (std::vector<double>{1, -1}));
}

TEST_P(VectorMath, has_the_digits_of_doubles_when_it_is_widened) {
    std::map<std::string, std::string> expressions;
    std::set<std::string> helpers, names;
    for (const DoubleFunction& f : double_functions) {
        expressions[f.name] = std::string(f.helper) + "(v)";
        helpers.insert(f.helper);
        names.insert(f.name);
    }
    const Library apply(widened(Library::source(expressions, helpers)), GetParam());
    expect_digits_of_doubles(apply, names);
    EXPECT_EQ(apply("erf", std::vector<double>{INFINITY, -INFINITY}), (std::vector<double>{1, -1}));
}

// As they are, and as a kernel of float32 is widened.
TEST(PlainFunctions, have_the_digits_of_doubles) {
    const std::set<std::string> names = {"exp", "expm1", "log", "tanh"};
    std::string text = "#include <cmath>\n#include <cstdint>\n#include <limits>\n#include <type_traits>\n";
    text += plain_helpers({"exp_of", "expm1_of", "log_of", "tanh_of"});
    std::string calls;
    for (const std::string& name : names)
        calls += fmt::format(
            "extern \"C\" void apply_{0}(const float* x, float* y, long n) {{\n"
            "    for (long j = 0; j < n; ++j) y[j] = {0}_of(x[j]);\n}}\n",
            name);
    const std::string narrow = widened(text + calls);
    EXPECT_EQ(narrow.find("float"), std::string::npos) << narrow;
    expect_digits_of_doubles(Library(narrow), names, 0.5);
    expect_digits_of_doubles(Library(text + replace_all(calls, "float", "double")), names, 0.5);
}

TEST_P(VectorMath, follows_numpy_at_the_edges) {
    Library apply = library(GetParam());
    const float inf = INFINITY, nan = NAN;
    auto expect = [&](const char* name, float x, float want) {
        float got = apply(name, {1, 2, x})[2];
        if (std::isnan(want)) EXPECT_TRUE(std::isnan(got)) << name << "(" << x << ") = " << got;
        else EXPECT_EQ(got, want) << name << "(" << x << ")";
    };
    for (const Function& f : functions) expect(f.name, nan, nan);
    expect("exp", -inf, 0);
    expect("exp", inf, inf);
    expect("exp", 89, inf);
    expect("exp", -200, 0);
    expect("exp", 0, 1);
    expect("exp2", 128, inf);
    expect("exp2", 10, 1024);
    expect("expm1", -inf, -1);
    expect("expm1", inf, inf);
    expect("log", 0, -inf);
    expect("log", -1, nan);
    expect("log", inf, inf);
    expect("log", 1, 0);
    expect("log1p", -1, -inf);
    expect("log1p", inf, inf);
    expect("tanh", inf, 1);
    expect("tanh", -inf, -1);
    expect("erf", inf, 1);
    expect("erf", -inf, -1);
    expect("atan", inf, 1.57079637f);
    expect("atan", -inf, -1.57079637f);
    expect("sigmoid", -inf, 0);
    expect("sigmoid", inf, 1);
    expect("sin", inf, nan);
    expect("sign", 0, 0);
}

// Far from where anybody calls them they are right too, but for what is below the normal numbers.
TEST_P(VectorMath, follows_the_exact_function_to_the_ends_of_the_range) {
    Library apply = library(GetParam());
    for (const Function& f : functions)
        for (float size : {1e-40f, 1e-30f, 1e-6f, 3e5f, 2e6f, 1e10f, 1e20f, 1e34f, 3.4e38f})
            for (float x : {size, -size}) {
                if (std::string(f.helper) == "vexp_nonpositive" && x > 0) continue;
                const float got = apply(f.name, {1, 2, x})[2];
                const double exact = f.exact(x);
                const float want = static_cast<float>(exact), near = std::abs(want);
                if (std::isnan(want)) EXPECT_TRUE(std::isnan(got)) << f.name << "(" << x << ") = " << got;
                else if (std::isinf(want)) EXPECT_EQ(got, want) << f.name << "(" << x << ")";
                else
                    EXPECT_LE(std::abs(got - exact), 3 * (std::nextafter(near, INFINITY) - near) + 1.2e-38)
                        << f.name << "(" << x << ") = " << got;
            }
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorMath,
                         ::testing::Values("-DVL=4", "-DVL=8 -march=native", "-DVL=16 -march=native"));

TEST(Vector, tails_read_and_write_only_their_lanes) {
    Library apply({{"copy", "v"}}, {}, "-DVL=16 -fsanitize-trap=all");
    for (size_t n = 0; n <= 40; ++n) {
        std::vector<float> x;
        for (size_t i = 0; i < n; ++i) x.push_back(static_cast<float>(i + 1));
        EXPECT_EQ(apply("copy", x), x) << n;
    }
}

TEST(Vector, horizontal_reductions_and_nan) {
    Library apply({{"total", "splat(sum(v))"}, {"largest", "splat(maximum(v))"}, {"least", "splat(minimum(v))"}},
                  {"sum", "maximum", "minimum", "splat"}, "-DVL=8");
    std::vector<float> x = {3, -1, 4, 1, -5, 9, 2, 6};
    EXPECT_EQ(apply("total", x)[0], 19);
    EXPECT_EQ(apply("largest", x)[0], 9);
    EXPECT_EQ(apply("least", x)[0], -5);
    for (size_t lane = 0; lane < x.size(); ++lane) {
        std::vector<float> with_nan = x;
        with_nan[lane] = NAN;
        EXPECT_TRUE(std::isnan(apply("largest", with_nan)[0])) << lane;
        EXPECT_TRUE(std::isnan(apply("least", with_nan)[0])) << lane;
    }
}

TEST(Vector, powers) {
    Library apply({{"cube", "vpow(v, splat(3.0f))"},
                   {"root", "vpow(v, splat(0.3f))"},
                   {"two_to", "vpow(splat(2.0f), v)"},
                   {"none", "vpow(v, splat(0.0f))"}},
                  {"vpow", "splat"}, "-DVL=8");
    for (float x : {-3.0f, -0.5f, 0.0f, 0.7f, 1.0f, 12.5f, 3e4f, float(INFINITY)}) {
        EXPECT_FLOAT_EQ(apply("cube", {x})[0], std::pow(x, 3.0f)) << x;
        EXPECT_FLOAT_EQ(apply("two_to", {x / 300})[0], std::pow(2.0f, x / 300)) << x;
        EXPECT_EQ(apply("none", {x})[0], 1) << x;
        if (x >= 0) EXPECT_FLOAT_EQ(apply("root", {x})[0], std::pow(x, 0.3f)) << x;
        else EXPECT_TRUE(std::isnan(apply("root", {x})[0])) << x;
    }
}

// Plain loops call functions of one float, whose loops the compiler makes vectors of: floats of every magnitude.
TEST(PlainFunctions, stay_within_the_stated_error_for_all_floats) {
    struct Plain {
        const char* name;
        double (*exact)(double);
        double ulps;
    };
    const std::vector<Plain> plain = {{"exp_of", [](double a) { return std::exp(a); }, 1.3},
                                      {"expm1_of", [](double a) { return std::expm1(a); }, 2.1},
                                      {"log_of", [](double a) { return std::log(a); }, 1.2},
                                      {"tanh_of", [](double a) { return std::tanh(a); }, 3.1},
                                      {"erf_of", [](double a) { return std::erf(a); }, 2.1},
                                      {"sin_of", [](double a) { return std::sin(a); }, 1.6},
                                      {"cos_of", [](double a) { return std::cos(a); }, 1.6}};
    std::set<std::string> used;
    for (const Plain& function : plain) used.insert(function.name);
    std::string text = "#include <cmath>\n#include <cstdint>\n#include <limits>\n#include <type_traits>\n";
    text += plain_helpers(used);
    for (const Plain& function : plain)
        text += fmt::format(
            "extern \"C\" void apply_{0}(const float* x, float* y, long n) {{\n"
            "    for (long j = 0; j < n; ++j) y[j] = {0}(x[j]);\n}}\n",
            function.name);
    std::vector<float> x;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 40009)
        x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    for (float edge : {0.0f, -0.0f, 1.0f, 1.5707964f, 3.1415927f, 355.0f, 6e6f, 1e15f, 3e38f}) x.push_back(edge);
    const Library apply(text);
    for (const Plain& function : plain) {
        const std::vector<float> y = apply(function.name, x);
        for (size_t i = 0; i < x.size(); ++i) {
            const double want = function.exact(x[i]);
            if (std::isnan(want)) {
                ASSERT_TRUE(std::isnan(y[i])) << function.name << "(" << x[i] << ") = " << y[i];
                continue;
            }
            const float near = std::abs(static_cast<float>(want));
            if (std::isinf(near) && std::isinf(y[i]) && (y[i] > 0) == (want > 0)) continue;
            if (near < 2.5e-38f && std::abs(y[i]) < 2.5e-38f) continue;  // what the type holds in part only
            ASSERT_LE(error_in_ulps(y[i], want), function.ulps) << function.name << "(" << x[i] << ") = " << y[i];
        }
    }
}

TEST(Vector, writes_only_what_is_used) {
    std::string text = vector_prelude({"vsigmoid"});
    EXPECT_NE(text.find(" vexp(vec x)"), std::string::npos);
    EXPECT_EQ(text.find("vtanh"), std::string::npos);
    EXPECT_EQ(vector_lengths(32), "8 | 16");
    EXPECT_EQ(vector_lengths(64), "16 | 32");
    EXPECT_EQ(vector_lengths(16), "4 | 8");
}

class PointwiseText : public ::testing::Test {
protected:
    int add(Family family, const std::string& op, std::vector<int> operands = {}, DType dtype = DType::float32) {
        Node node;
        node.id = static_cast<int>(graph.nodes.size());
        node.family = family;
        node.op = op;
        node.operands = std::move(operands);
        node.dtype = dtype;
        graph.nodes.push_back(node);
        return node.id;
    }
    int number(double value) {
        int id = add(Family::constant, "");
        graph.nodes.back().value = value;
        return id;
    }
    int point(const std::string& op, std::vector<int> operands, DType dtype = DType::float32) {
        return add(Family::pointwise, op, std::move(operands), dtype);
    }

    Graph graph;
};

TEST_F(PointwiseText, short_chains_are_one_expression) {
    int x = add(Family::input, "x"), eps = add(Family::parameter, "eps");
    int y = point("divide", {point("subtract", {x, number(2)}), point("add", {x, eps})});
    PointwiseCode code = emit_pointwise(graph, y, {{x, "x_j"}}, "", false);
    EXPECT_EQ(code.result, "(x_j - 2.0f) / (x_j + eps)");
    EXPECT_TRUE(code.statements.empty());
    EXPECT_EQ(code.lacks, "");
}

TEST_F(PointwiseText, keeps_the_order_of_rounding) {
    int a = add(Family::input, "a"), b = add(Family::input, "b");
    std::map<int, std::string> known = {{a, "a"}, {b, "b"}};
    EXPECT_EQ(emit_pointwise(graph, point("subtract", {a, point("subtract", {b, a})}), known, "", true).result,
              "a - (b - a)");
    EXPECT_EQ(emit_pointwise(graph, point("multiply", {a, point("divide", {b, a})}), known, "", true).result,
              "a * (b / a)");
    EXPECT_EQ(emit_pointwise(graph, point("add", {a, number(-1)}), known, "", true).result, "a - 1.0f");
}

TEST_F(PointwiseText, names_what_is_used_twice_without_hiding_inputs) {
    int x = add(Family::input, "exponential");
    int e = point("exp", {x});
    PointwiseCode code = emit_pointwise(graph, point("multiply", {e, e}), {{x, "v"}}, "", false);
    ASSERT_EQ(code.statements.size(), 1u);
    EXPECT_EQ(code.statements[0], "vec exponential_2 = vexp(v);");
    EXPECT_EQ(code.result, "exponential_2 * exponential_2");
    EXPECT_TRUE(code.helpers.contains("vexp"));
}

TEST_F(PointwiseText, masks_and_scalars) {
    int x = add(Family::input, "x"), zero = number(0);
    int y = point("where", {point("less", {x, zero}, DType::boolean), zero, x});
    EXPECT_EQ(emit_pointwise(graph, y, {{x, "v"}}, "", false).result, "select(v < 0.0f, splat(0.0f), v)");
    EXPECT_EQ(emit_pointwise(graph, y, {{x, "s"}}, "", true).result, "select(s < 0.0f, 0.0f, s)");
    EXPECT_EQ(emit_pointwise(graph, zero, {}, "", false).result, "splat(0.0f)");
}

TEST_F(PointwiseText, says_what_it_cannot_write) {
    int x = add(Family::input, "x");
    EXPECT_NE(emit_pointwise(graph, point("gamma", {x}), {{x, "v"}}, "", false).lacks.find("gamma"), std::string::npos);
    EXPECT_NE(emit_pointwise(graph, point("exp", {x}), {}, "", false).lacks, "");
}

}  // namespace
}  // namespace strop::playbook
