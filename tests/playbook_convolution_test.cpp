// The convolution emitter: its kernels are compiled, run on many sizes and compared with sums in double.
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "fakes/compiled_library.h"
#include "fakes/dirty_memory.h"
#include "fakes/long_tests.h"
#include "language/contract.h"
#include "playbook/recipe.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;

Expression parse(const std::string& text) { return Expression::parse(text); }

// Stride, padding, dilation and groups as texts: literals or the names of int64 parameters.
struct Spelling {
    std::string stride = "stride", padding = "padding", dilation = "dilation", groups = "groups";
    std::string rows = "R", columns = "S";
};

// A problem conv2d(x, w, [further inputs], y, [stride, padding, dilation, groups,] N, C, H, W, K, R, S).
struct Case {
    Problem problem;
    Graph graph;

    int add(Node node) {
        node.id = static_cast<int>(graph.nodes.size());
        graph.nodes.push_back(std::move(node));
        return graph.nodes.back().id;
    }
    int input(const std::string& name, std::vector<Expression> shape) {
        Tensor tensor;
        tensor.name = name;
        tensor.shape = shape;
        problem.inputs.push_back(tensor);
        Node node;
        node.op = name;
        node.shape = std::move(shape);
        return add(node);
    }
    int reshape(int from, std::vector<Expression> shape) {
        Node node;
        node.family = Family::layout;
        node.op = "reshape";
        node.operands = {from};
        node.shape = std::move(shape);
        return add(node);
    }
    int constant(double value) {
        Node node;
        node.family = Family::constant;
        node.value = value;
        return add(node);
    }
    int pointwise(const std::string& op, std::vector<int> operands, std::vector<Expression> shape = {}) {
        Node node;
        node.family = Family::pointwise;
        node.op = op;
        node.operands = std::move(operands);
        node.shape = shape.empty() ? problem.outputs[0].shape : std::move(shape);
        return add(node);
    }
    void finish(int result) { graph.outputs = {result}; }

    int convolution = 0;
};

Case make_case(const Spelling& spelling = {}) {
    Case made;
    made.problem.name = made.problem.function = "conv2d";
    Node node;
    node.family = Family::convolution;
    node.operands = {
        made.input("x", {parse("N"), parse("C"), parse("H"), parse("W")}),
        made.input("w", {parse("K"), parse("C//" + spelling.groups), parse(spelling.rows), parse(spelling.columns)})};
    Tensor output;
    output.name = "y";
    auto extent = [&](const std::string& size, const std::string& kernel) {
        return parse(fmt::format("({} + 2*{} - {}*({} - 1) - 1)//{} + 1", size, spelling.padding, spelling.dilation,
                                 kernel, spelling.stride));
    };
    output.shape = {parse("N"), parse("K"), extent("H", spelling.rows), extent("W", spelling.columns)};
    made.problem.outputs = {output};
    for (const std::string& name : {spelling.stride, spelling.padding, spelling.dilation, spelling.groups})
        if (!parse(name).is_literal()) made.problem.parameters.push_back({name, DType::int64, 1});
    made.problem.dimensions = {"N", "C", "H", "W", "K", "R", "S"};
    node.shape = output.shape;
    node.stride = {parse(spelling.stride), parse(spelling.stride)};
    node.padding = {parse(spelling.padding), parse(spelling.padding)};
    node.dilation = {parse(spelling.dilation), parse(spelling.dilation)};
    node.groups = parse(spelling.groups);
    made.convolution = made.add(node);
    made.finish(made.convolution);
    return made;
}

Machine machine_of(int vector_bytes, int registers) {
    Machine machine;
    machine.vector_bytes = vector_bytes;
    machine.vector_registers = registers;
    machine.cores = 2;
    return machine;
}
Machine avx2() { return machine_of(32, 16); }

CompiledLibrary compiled_with(const Recipe& recipe, const Configuration& configuration,
                              const std::string& with = compiler()) {
    return {recipe.source, kernel_optimization() + defines(configuration), with};
}

struct Size {
    int64_t stride, padding, dilation, groups, N, C, H, W, K, R, S;
    int64_t P() const { return (H + 2 * padding - dilation * (R - 1) - 1) / stride + 1; }
    int64_t Q() const { return (W + 2 * padding - dilation * (S - 1) - 1) / stride + 1; }
    Bindings bindings() const {
        return {{"stride", stride},
                {"padding", padding},
                {"dilation", dilation},
                {"groups", groups},
                {"N", N},
                {"C", C},
                {"H", H},
                {"W", W},
                {"K", K},
                {"R", R},
                {"S", S}};
    }
    std::string text() const {
        return fmt::format("stride {} padding {} dilation {} groups {} x {}x{}x{}x{} w {}x{}x{}", stride, padding,
                           dilation, groups, N, C, H, W, K, R, S);
    }
};

const std::vector<Size> sizes = {
    {1, 1, 1, 1, 2, 3, 9, 11, 5, 3, 3},    {1, 1, 1, 1, 3, 17, 31, 29, 23, 3, 3}, {1, 1, 1, 1, 1, 70, 14, 14, 65, 3, 3},
    {1, 0, 1, 1, 1, 1, 3, 3, 1, 3, 3},     {1, 2, 1, 1, 1, 4, 5, 6, 7, 3, 3},     {2, 1, 1, 1, 2, 3, 17, 19, 32, 3, 3},
    {2, 3, 1, 1, 1, 3, 23, 24, 8, 7, 7},   {3, 1, 2, 1, 1, 5, 20, 17, 9, 4, 2},   {1, 2, 2, 1, 2, 6, 12, 13, 11, 5, 3},
    {1, 1, 1, 4, 2, 8, 13, 15, 20, 3, 3},  {2, 2, 3, 2, 2, 8, 21, 19, 20, 5, 4},  {4, 0, 1, 1, 1, 3, 16, 16, 6, 4, 4},
    {3, 0, 1, 1, 1, 4, 11, 11, 6, 2, 2},   {1, 0, 1, 1, 2, 20, 11, 13, 19, 1, 1}, {1, 0, 1, 3, 1, 9, 4, 4, 12, 1, 1},
    {2, 0, 1, 1, 1, 20, 11, 13, 19, 1, 1}, {1, 1, 1, 1, 1, 3, 5, 5, 4, 1, 1},     {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 6, 2, 6, 13, 9, 12, 3, 3},   {2, 1, 1, 5, 1, 5, 8, 33, 5, 3, 5},    {1, 0, 1, 1, 2, 600, 3, 3, 7, 1, 1},
    {1, 1, 1, 1, 1, 260, 6, 6, 14, 3, 3},  {1, 1, 1, 1, 1, 0, 6, 6, 3, 3, 3},     {1, 1, 1, 1, 0, 4, 6, 6, 3, 3, 3},
    {1, 1, 1, 1, 2, 3, 9, 1, 5, 3, 3},     {1, 4, 1, 1, 1, 2, 2, 2, 3, 3, 3},     {1, 2, 1, 3, 2, 9, 41, 37, 12, 1, 1},
    {1, 3, 1, 1, 1, 5, 1, 70, 3, 1, 1},    {1, 1, 1, 1, 1, 4, 33, 1, 5, 1, 1},    {1, 0, 1, 1, 1, 16, 40, 40, 40, 5, 5},
};

struct Data {
    explicit Data(const Size& size) : generator(1) {
        x = normal(size.N * size.C * size.H * size.W);
        w = normal(size.K * size.C / size.groups * size.R * size.S);
        expected = sums(size);
    }
    // One element in front, so that data() + 1 is aligned to floats only.
    std::vector<float> normal(int64_t count) {
        std::normal_distribution<float> distribution;
        std::vector<float> values(static_cast<size_t>(count) + 1);
        for (float& value : values) value = distribution(generator);
        return values;
    }
    std::vector<double> sums(const Size& s) const {
        std::vector<double> y;
        int64_t channels = s.C / s.groups, filters = s.K / s.groups;
        for (int64_t n = 0; n < s.N; ++n)
            for (int64_t k = 0; k < s.K; ++k)
                for (int64_t p = 0; p < s.P(); ++p)
                    for (int64_t q = 0; q < s.Q(); ++q) {
                        double sum = 0;
                        for (int64_t c = 0; c < channels; ++c)
                            for (int64_t r = 0; r < s.R; ++r)
                                for (int64_t t = 0; t < s.S; ++t) {
                                    int64_t h = p * s.stride + r * s.dilation - s.padding;
                                    int64_t v = q * s.stride + t * s.dilation - s.padding;
                                    if (h < 0 || h >= s.H || v < 0 || v >= s.W) continue;
                                    int64_t from = ((n * s.C + k / filters * channels + c) * s.H + h) * s.W + v;
                                    int64_t with = ((k * channels + c) * s.R + r) * s.S + t;
                                    sum += double(x[static_cast<size_t>(from) + 1]) * w[static_cast<size_t>(with) + 1];
                                }
                        y.push_back(sum);
                    }
        return y;
    }

    std::mt19937 generator;
    std::vector<float> x, w;
    std::vector<double> expected;
};

const Data& data_of(const Size& size) {
    static std::map<std::string, Data> made;
    return made.try_emplace(size.text(), size).first->second;
}

// Output with poison inside and guards around.
struct Output {
    explicit Output(size_t count) : values(count + 2, std::nanf("")) { values.front() = values.back() = 77.0f; }
    float* data() { return values.data() + 1; }
    void expect(const std::vector<double>& expected, double tolerance, const std::string& where) {
        ASSERT_EQ(values.size(), expected.size() + 2);
        EXPECT_EQ(values.front(), 77.0f) << where;
        EXPECT_EQ(values.back(), 77.0f) << where;
        for (size_t i = 0; i < expected.size(); ++i) {
            double error = std::abs(data()[i] - expected[i]);
            ASSERT_TRUE(error <= tolerance) << where << " element " << i << ": " << data()[i] << " for " << expected[i];
        }
    }
    std::vector<float> values;
};

// A share of the largest value that a sum of |x w| over the depth would have; F(4×4) loses a digit more.
double tolerance_of(const Size& size, const Recipe& recipe) {
    double depth = double(size.C) / double(size.groups) * double(size.R * size.S);
    return (recipe.suffix == "tiles_of_4" ? 2e-5 : 2e-6) * (std::sqrt(depth) * 4 + 1);
}

std::vector<Recipe> with_variants(const Recipes& recipes) {
    std::vector<Recipe> all;
    for (const Recipe& recipe : recipes.recipes) {
        all.push_back(recipe);
        all.insert(all.end(), recipe.variants.begin(), recipe.variants.end());
    }
    return all;
}

const Recipe* find(const Recipes& recipes, const std::string& id) {
    for (const Recipe& recipe : recipes.recipes)
        if (recipe.strategy.id == id) return &recipe;
    return nullptr;
}

using Plain = void(const float*, const float*, float*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                   int64_t, int64_t, int64_t, int64_t);

void run_all_sizes(const Recipe& recipe, const Configuration& configuration) {
    const CompiledLibrary compiled = compiled_with(recipe, configuration);
    Plain* kernel = compiled.entry<Plain>("conv2d");
    ASSERT_NE(kernel, nullptr) << recipe.source;
    int ran = 0;
    for (const Size& s : sizes) {
        if (recipe.condition && !truthy(recipe.condition->evaluate(s.bindings()))) continue;
        ++ran;
        const Data& data = data_of(s);
        for (int repeat = 0; repeat < 2; ++repeat) {  // the second call meets used scratch
            Output y(data.expected.size());
            const DirtyMemory memory;
            kernel(data.x.data() + 1, data.w.data() + 1, y.data(), s.stride, s.padding, s.dilation, s.groups, s.N, s.C,
                   s.H, s.W, s.K, s.R, s.S);
            ASSERT_FALSE(memory.was_computed_with()) << recipe.strategy.id + recipe.suffix + ": " + s.text();
            y.expect(data.expected, tolerance_of(s, recipe), recipe.strategy.id + recipe.suffix + ": " + s.text());
        }
    }
    EXPECT_GE(ran, 2) << recipe.strategy.id;
}

TEST(Convolution, EveryKernelIsRightAtEverySize) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made = make_case();
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    ASSERT_EQ(recipes.lacks, "");
    for (const Recipe& recipe : with_variants(recipes)) run_all_sizes(recipe, recipe.initial);
}

// Threads for everything, and every loop over blocks taken many times.
TEST(Convolution, SmallBlocksMakeManyPasses) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made = make_case();
    for (const Recipe& recipe : emit_convolution(made.problem, made.graph, avx2()).recipes) {
        Configuration configuration = recipe.initial;
        for (const auto& [name, value] : std::map<std::string, int64_t>{
                 {"DEPTH", 7}, {"KC", 5}, {"TILES", 1}, {"MIN_TASKS", 32}, {"PARALLEL_MIN", 0}})
            if (configuration.count(name)) configuration[name] = value;
        run_all_sizes(recipe, configuration);
    }
}

TEST(Convolution, OtherMachinesGetOtherTiles) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made = make_case();
    for (const Machine& machine : {machine_of(16, 32), machine_of(64, 32)})
        for (const Recipe& recipe : emit_convolution(made.problem, made.graph, machine).recipes)
            run_all_sizes(recipe, recipe.initial);
}

TEST(Convolution, TheOtherCompilerTakesTheSources) {
    if (!is_installed("g++")) GTEST_SKIP() << "no g++";
    Case made = make_case();
    for (const Recipe& recipe : emit_convolution(made.problem, made.graph, avx2()).recipes) {
        const CompiledLibrary compiled = compiled_with(recipe, recipe.initial, "g++");
        EXPECT_NE(compiled.entry<Plain>("conv2d"), nullptr) << recipe.strategy.id;
    }
}

TEST(Convolution, InitialConfigurationsAreInTheirSpaces) {
    Case made = make_case();
    for (const Machine& machine : {machine_of(16, 16), avx2(), machine_of(64, 32), machine_of(16, 32)})
        for (const Recipe& recipe : with_variants(emit_convolution(made.problem, made.graph, machine))) {
            TunableSpace space = parse_tunables(recipe.source, recipe.strategy.id);
            EXPECT_EQ(space.tunables.size(), recipe.initial.size()) << recipe.strategy.id;
            for (const Tunable& tunable : space.tunables)
                EXPECT_THAT(tunable.values, testing::Contains(recipe.initial.at(tunable.name))) << tunable.name;
            Bindings bindings(recipe.initial.begin(), recipe.initial.end());
            for (const Expression& constraint : space.constraints)
                EXPECT_TRUE(truthy(constraint.evaluate(bindings))) << recipe.strategy.id << ": " << constraint.text();
            EXPECT_NO_THROW(default_configuration(space));
        }
}

TEST(Convolution, StrategiesAreDescribed) {
    Case made = make_case();
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    std::set<std::string> ids;
    for (const Recipe& recipe : recipes.recipes) {
        EXPECT_TRUE(ids.insert(recipe.strategy.id).second);
        EXPECT_EQ(recipe.strategy.family, "convolution");
        EXPECT_FALSE(recipe.strategy.hypothesis.empty());
        EXPECT_FALSE(recipe.strategy.bottleneck.empty());
        EXPECT_FALSE(recipe.strategy.excludes.empty());
        EXPECT_TRUE(recipe.suffix.empty());
        for (const Recipe& variant : recipe.variants) {
            EXPECT_FALSE(variant.suffix.empty());
            EXPECT_NE(variant.source, recipe.source);
        }
    }
    EXPECT_EQ(ids, (std::set<std::string>{"shifted_planes", "winograd", "filter_lanes", "implicit_gemm",
                                          "pointwise_gemm", "depthwise", "channel_lanes"}));
    for (const char* id : {"shifted_planes", "filter_lanes", "implicit_gemm"})
        EXPECT_FALSE(find(recipes, id)->condition.has_value()) << id;
    EXPECT_EQ(find(recipes, "winograd")->condition->text(),
              "R == 3 and S == 3 and stride == 1 and dilation == 1 and groups == 1");
    for (const char* id : {"depthwise", "channel_lanes"})
        EXPECT_EQ(find(recipes, id)->condition->text(), "groups == C") << id;
}

TEST(Convolution, LiteralsDecideConditions) {
    Spelling spelling{"1", "1", "1", "1", "3", "3"};
    Case three = make_case(spelling);
    Recipes recipes = emit_convolution(three.problem, three.graph, avx2());
    ASSERT_NE(find(recipes, "winograd"), nullptr);
    EXPECT_FALSE(find(recipes, "winograd")->condition.has_value());
    EXPECT_EQ(find(recipes, "pointwise_gemm"), nullptr);

    spelling.stride = "2";
    Case strided = make_case(spelling);
    EXPECT_EQ(find(emit_convolution(strided.problem, strided.graph, avx2()), "winograd"), nullptr);
}

TEST(Convolution, LiteralsCompile) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made = make_case({"1", "1", "1", "1", "3", "3"});
    Size s{1, 1, 1, 1, 2, 5, 9, 8, 7, 3, 3};
    Data data(s);
    for (const Recipe& recipe : with_variants(emit_convolution(made.problem, made.graph, avx2()))) {
        if (recipe.condition && !truthy(recipe.condition->evaluate(s.bindings()))) continue;
        const CompiledLibrary compiled = compiled_with(recipe, recipe.initial);
        using Short =
            void(const float*, const float*, float*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
        Short* kernel = compiled.entry<Short>("conv2d");
        ASSERT_NE(kernel, nullptr) << recipe.source;
        Output y(data.expected.size());
        kernel(data.x.data() + 1, data.w.data() + 1, y.data(), s.N, s.C, s.H, s.W, s.K, s.R, s.S);
        y.expect(data.expected, tolerance_of(s, recipe), recipe.strategy.id);
    }
}

// relu((sum + bias) * (gamma * alpha) + residual), with bias as [K] seen through a reshape and gamma as
// [K,1,1].
TEST(Convolution, EpiloguesAreFused) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made = make_case();
    int bias = made.reshape(made.input("bias", {parse("K")}), {1, parse("K"), 1, 1});
    int gamma = made.input("gamma", {parse("K"), 1, 1});
    int residual = made.input("residual", made.problem.outputs[0].shape);
    made.problem.parameters.insert(made.problem.parameters.begin(), {"alpha", DType::float32, 0.5});
    Node alpha;
    alpha.family = Family::parameter;
    alpha.op = "alpha";
    int scale = made.pointwise("multiply", {gamma, made.add(alpha)}, {parse("K"), 1, 1});
    int biased = made.pointwise("add", {made.convolution, bias});
    int scaled = made.pointwise("multiply", {biased, scale});
    int added = made.pointwise("add", {scaled, residual});
    made.finish(made.pointwise("maximum", {added, made.constant(0)}));
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    ASSERT_EQ(recipes.lacks, "");
    using Fused = void(const float*, const float*, const float*, const float*, const float*, float*, float, int64_t,
                       int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
    for (const Recipe& recipe : with_variants(recipes)) {
        const CompiledLibrary compiled = compiled_with(recipe, recipe.initial);
        Fused* kernel = compiled.entry<Fused>("conv2d");
        ASSERT_NE(kernel, nullptr) << recipe.source;
        for (const Size& s : sizes) {
            if (recipe.condition && !truthy(recipe.condition->evaluate(s.bindings()))) continue;
            Data data(s);
            std::vector<float> b = data.normal(s.K), g = data.normal(s.K);
            std::vector<float> r = data.normal(static_cast<int64_t>(data.expected.size()));
            std::vector<double> expected = data.expected;
            double largest = 1;
            for (size_t i = 0; i < expected.size(); ++i) {
                size_t k = i / static_cast<size_t>(s.P() * s.Q()) % static_cast<size_t>(s.K) + 1;
                expected[i] = std::max(0.0, (expected[i] + b[k]) * (g[k] * 0.5) + r[i + 1]);
                largest = std::max(largest, std::abs(double(g[k])));
            }
            Output y(expected.size());
            kernel(data.x.data() + 1, data.w.data() + 1, b.data() + 1, g.data() + 1, r.data() + 1, y.data(), 0.5f,
                   s.stride, s.padding, s.dilation, s.groups, s.N, s.C, s.H, s.W, s.K, s.R, s.S);
            y.expect(expected, largest * tolerance_of(s, recipe), recipe.strategy.id + ": " + s.text());
        }
    }
}

TEST(Convolution, PerFilterWorkLeavesTheLoop) {
    Case made = make_case();
    int gamma = made.input("gamma", {parse("K"), 1, 1});
    int root = made.pointwise("sqrt", {gamma}, {parse("K"), 1, 1});
    made.finish(made.pointwise("multiply", {made.convolution, root}));
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    ASSERT_EQ(recipes.lacks, "");
    const std::string& source = recipes.recipes.front().source;
    size_t finish = source.find("static inline void finish(");
    EXPECT_LT(source.find("vsqrt(gamma_k)", finish), source.find("for (", finish));
}

TEST(Convolution, OneDimensional) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    Case made;
    made.problem.name = made.problem.function = "conv2d";
    Node node;
    node.family = Family::convolution;
    node.operands = {made.input("x", {parse("N"), parse("C"), parse("W")}),
                     made.input("w", {parse("K"), parse("C"), parse("S")})};
    node.shape = {parse("N"), parse("K"), parse("(W + 2 - S)//2 + 1")};
    node.stride = {2};
    node.padding = {1};
    node.dilation = {1};
    Tensor output;
    output.name = "y";
    output.shape = node.shape;
    made.problem.outputs = {output};
    made.problem.dimensions = {"N", "C", "W", "K", "S"};
    made.finish(made.add(node));
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    ASSERT_EQ(recipes.lacks, "");
    EXPECT_EQ(find(recipes, "winograd"), nullptr);
    Size s{2, 1, 1, 1, 3, 5, 1, 40, 7, 1, 4};
    Data data(s);
    std::vector<double> sums;
    for (int64_t n = 0; n < s.N; ++n)
        for (int64_t k = 0; k < s.K; ++k)
            for (int64_t q = 0; q < s.Q(); ++q) {
                double sum = 0;
                for (int64_t c = 0; c < s.C; ++c)
                    for (int64_t t = 0; t < s.S; ++t) {
                        int64_t v = q * 2 + t - 1;
                        if (v < 0 || v >= s.W) continue;
                        sum += double(data.x[static_cast<size_t>((n * s.C + c) * s.W + v) + 1]) *
                               data.w[static_cast<size_t>((k * s.C + c) * s.S + t) + 1];
                    }
                sums.push_back(sum);
            }
    for (const Recipe& recipe : recipes.recipes) {
        if (recipe.condition) continue;
        const CompiledLibrary compiled = compiled_with(recipe, recipe.initial);
        using Line = void(const float*, const float*, float*, int64_t, int64_t, int64_t, int64_t, int64_t);
        Line* kernel = compiled.entry<Line>("conv2d");
        ASSERT_NE(kernel, nullptr) << recipe.source;
        Output y(sums.size());
        kernel(data.x.data() + 1, data.w.data() + 1, y.data(), s.N, s.C, s.W, s.K, s.S);
        y.expect(sums, tolerance_of(s, recipe), recipe.strategy.id);
    }
}

// Depth, height and width differ in every respect, so that none stands for another.
struct Volumes {
    int64_t C, K, groups;
    std::array<int64_t, 3> kernel, stride, padding, dilation;
    static constexpr int64_t N = 2, D = 5, H = 6, W = 21;

    std::array<int64_t, 3> out() const {
        std::array<int64_t, 3> extents{D, H, W};
        for (size_t a = 0; a < 3; ++a)
            extents[a] = (extents[a] + 2 * padding[a] - dilation[a] * (kernel[a] - 1) - 1) / stride[a] + 1;
        return extents;
    }

    Case made() const {
        Case made;
        made.problem.name = made.problem.function = "conv2d";
        const auto all = [](const std::array<int64_t, 3>& values) {
            return std::vector<Expression>(values.begin(), values.end());
        };
        Node node;
        node.family = Family::convolution;
        node.operands = {made.input("x", {parse("N"), C, D, H, parse("W")}),
                         made.input("w", {K, C / groups, kernel[0], kernel[1], kernel[2]})};
        node.shape = {parse("N"), K, out()[0], out()[1],
                      parse(fmt::format("(W + {} - {}) // {} + 1", 2 * padding[2], dilation[2] * (kernel[2] - 1) + 1,
                                        stride[2]))};
        node.stride = all(stride);
        node.padding = all(padding);
        node.dilation = all(dilation);
        node.groups = groups;
        Tensor output;
        output.name = "y";
        output.shape = node.shape;
        made.problem.outputs = {output};
        made.problem.dimensions = {"N", "W"};
        made.finish(made.add(node));
        return made;
    }

    std::vector<double> expected(const std::vector<float>& x, const std::vector<float>& w) const {
        const auto [Z, P, Q] = out();
        const auto [T, R, S] = kernel;
        std::vector<double> sums;
        for (int64_t i = 0; i < N * K * Z * P * Q; ++i) {
            const int64_t q = i % Q, p = i / Q % P, z = i / Q / P % Z, k = i / Q / P / Z % K, n = i / Q / P / Z / K;
            double sum = 0;
            for (int64_t j = 0; j < C / groups * T * R * S; ++j) {
                const int64_t tap = j % (T * R * S), c = k / (K / groups) * (C / groups) + j / (T * R * S);
                const int64_t d = z * stride[0] + tap / S / R * dilation[0] - padding[0];
                const int64_t h = p * stride[1] + tap / S % R * dilation[1] - padding[1];
                const int64_t v = q * stride[2] + tap % S * dilation[2] - padding[2];
                if (d < 0 || d >= D || h < 0 || h >= H || v < 0 || v >= W) continue;
                sum += double(x[static_cast<size_t>((((n * C + c) * D + d) * H + h) * W + v)]) *
                       w[static_cast<size_t>(k * (C / groups) * T * R * S + j)];
            }
            sums.push_back(sum);
        }
        return sums;
    }
};

TEST(Convolution, Volumes) {
    if (compiler().empty()) GTEST_SKIP() << "no C++ compiler";
    const Volumes cases[] = {{3, 5, 1, {3, 2, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 1}},
                             {4, 6, 2, {2, 3, 1}, {2, 1, 3}, {1, 2, 0}, {1, 2, 1}},
                             {2, 18, 1, {1, 1, 1}, {1, 2, 1}, {0, 0, 0}, {1, 1, 1}},
                             {11, 22, 11, {3, 2, 3}, {1, 2, 1}, {2, 0, 1}, {2, 1, 1}},
                             {17, 17, 17, {2, 3, 3}, {1, 1, 2}, {0, 1, 1}, {1, 1, 2}}};
    for (const Volumes& volumes : cases) {
        const Case made = volumes.made();
        const Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
        ASSERT_EQ(recipes.lacks, "");
        std::mt19937 random(7);
        const auto drawn = [&](int64_t count) {
            std::vector<float> values(static_cast<size_t>(count));
            for (float& value : values) value = std::normal_distribution<float>()(random);
            return values;
        };
        const auto [T, R, S] = volumes.kernel;
        const std::vector<float> x = drawn(Volumes::N * volumes.C * Volumes::D * Volumes::H * Volumes::W);
        const std::vector<float> w = drawn(volumes.K * (volumes.C / volumes.groups) * T * R * S);
        const std::vector<double> expected = volumes.expected(x, w);
        ASSERT_GE(recipes.recipes.size(), 2u);
        for (const Recipe& recipe : with_variants(recipes)) {
            if (recipe.condition) continue;
            const CompiledLibrary compiled = compiled_with(recipe, recipe.initial);
            auto* kernel = compiled.entry<void(const float*, const float*, float*, int64_t, int64_t)>("conv2d");
            ASSERT_NE(kernel, nullptr) << recipe.source;
            Output y(expected.size());
            kernel(x.data(), w.data(), y.data(), Volumes::N, Volumes::W);
            y.expect(expected, 2e-5, recipe.strategy.id + recipe.suffix);
        }
    }
}

TEST(Convolution, OtherGraphsAreNotItsOwn) {
    Case made;
    Tensor output;
    output.name = "y";
    output.shape = {parse("N")};
    made.problem.outputs = {output};
    made.finish(made.pointwise("exp", {made.input("x", {parse("N")})}));
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    EXPECT_TRUE(recipes.recipes.empty());
    EXPECT_EQ(recipes.lacks, "");
}

std::string lacks(const Case& made) {
    Recipes recipes = emit_convolution(made.problem, made.graph, avx2());
    EXPECT_TRUE(recipes.recipes.empty());
    return recipes.lacks;
}

TEST(Convolution, WhatIsMissingIsNamed) {
    Case producer = make_case();
    producer.graph.nodes.push_back(producer.graph.at(producer.convolution));
    Node& moved = producer.graph.nodes.back();
    moved.id = producer.convolution + 1;
    Node relu;
    relu.id = producer.convolution;
    relu.family = Family::pointwise;
    relu.op = "tanh";
    relu.operands = {0};
    relu.shape = producer.problem.inputs[0].shape;
    moved.operands = {relu.id, 1};
    producer.graph.nodes[static_cast<size_t>(relu.id)] = relu;
    producer.finish(relu.id + 1);
    EXPECT_THAT(lacks(producer), HasSubstr("'tanh' before a convolution"));

    Case reduced = make_case();
    Node sum;
    sum.family = Family::reduction;
    sum.op = "sum";
    sum.operands = {reduced.convolution};
    sum.shape = reduced.problem.outputs[0].shape;
    reduced.finish(reduced.add(sum));
    EXPECT_THAT(lacks(reduced), HasSubstr("'sum' after a convolution"));

    Case twice = make_case();
    Node again = twice.graph.at(twice.convolution);
    twice.finish(twice.add(again));
    EXPECT_EQ(lacks(twice), "more than one convolution");

    Case one_axis = make_case();
    int row = one_axis.input("row", {one_axis.problem.outputs[0].shape[3]});
    one_axis.finish(one_axis.pointwise("add", {one_axis.convolution, row}));
    EXPECT_THAT(lacks(one_axis), HasSubstr("'row'"));

    Case four_axes = make_case();
    four_axes.graph.nodes[static_cast<size_t>(four_axes.convolution)].stride = {1, 1, 1, 1};
    EXPECT_EQ(lacks(four_axes), "convolution over 4 axes");

    Case whole = make_case();
    whole.graph.nodes[0].dtype = DType::float64;
    EXPECT_THAT(lacks(whole), HasSubstr("float64"));

    Case unknown = make_case();
    unknown.finish(unknown.pointwise("no_such_operation", {unknown.convolution}));
    EXPECT_THAT(lacks(unknown), HasSubstr("no_such_operation"));
}

}  // namespace
}  // namespace strop::playbook
