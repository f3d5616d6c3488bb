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
#include "convolution_fixture.h"
#include "fakes/compiled_library.h"
#include "fakes/dirty_memory.h"
#include "fakes/long_tests.h"
#include "language/contract.h"
#include "playbook/recipe.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;

// Stride, padding, dilation and groups as texts: literals or the names of int64 parameters.
struct Spelling {
    std::string stride = "stride", padding = "padding", dilation = "dilation", groups = "groups";
    std::string rows = "R", columns = "S";
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

const Data& data_of(const Size& size) {
    static std::map<std::string, Data> made;
    return made.try_emplace(size.text(), size).first->second;
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
