// Every kernel that the contraction emitter writes is compiled, run over full, ragged and empty shapes with
// unaligned pointers, and compared with a direct evaluation of the graph in double precision.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "fakes/dirty_memory.h"
#include "fakes/long_tests.h"
#include "graph/interpreter.h"
#include "language/contract.h"
#include "language/cpp.h"
#include "playbook/recipe.h"

namespace strop::playbook {
namespace {

namespace fs = std::filesystem;

// One computation, put together node by node.
struct Computation {
    Problem problem;
    Graph graph;

    Computation() { problem.name = "product"; }

    static std::vector<Expression> shape(const std::vector<std::string>& extents) {
        std::vector<Expression> result;
        for (const std::string& extent : extents) result.push_back(Expression::parse(extent));
        return result;
    }

    int node(Family family, const std::string& op, const std::vector<int>& operands,
             const std::vector<std::string>& extents) {
        Node added;
        added.id = static_cast<int>(graph.nodes.size());
        added.family = family;
        added.op = op;
        added.operands = operands;
        added.shape = shape(extents);
        graph.nodes.push_back(added);
        return added.id;
    }

    int input(const std::string& name, const std::vector<std::string>& extents) {
        Tensor tensor;
        tensor.name = name;
        tensor.shape = shape(extents);
        problem.inputs.push_back(tensor);
        add_dimensions(tensor);
        return node(Family::input, name, {}, extents);
    }

    int parameter(const std::string& name, double value) {
        problem.parameters.push_back({name, DType::float32, value});
        return node(Family::parameter, name, {}, {});
    }

    int number(double value) {
        int id = node(Family::constant, "", {}, {});
        graph.nodes.back().value = value;
        return id;
    }

    int einsum(int a, int b, const std::vector<std::string>& labels, const std::vector<std::string>& extents) {
        int id = node(Family::contraction, "einsum", {a, b}, extents);
        graph.nodes.back().labels = labels;
        return id;
    }

    int transpose(int x, const std::vector<int>& axes, const std::vector<std::string>& extents) {
        int id = node(Family::layout, "transpose", {x}, extents);
        graph.nodes.back().axes = axes;
        return id;
    }

    Computation& output(int id) {
        Tensor tensor;
        tensor.name = "y";
        tensor.shape = graph.at(id).shape;
        problem.outputs.push_back(tensor);
        graph.outputs.push_back(id);
        return *this;
    }

    void add_dimensions(const Tensor& tensor) {
        for (const Expression& extent : tensor.shape)
            for (const std::string& name : extent.symbols())
                if (std::find(problem.dimensions.begin(), problem.dimensions.end(), name) == problem.dimensions.end())
                    problem.dimensions.push_back(name);
    }
};

Machine machine_with(int vector_bytes, int registers) {
    Machine machine;
    machine.vector_bytes = vector_bytes;
    machine.vector_registers = registers;
    machine.cores = 2;
    machine.caches = {{1, 32768, 1, 0}, {2, 524288, 1, 0}};
    return machine;
}

std::vector<Recipe> flattened(const Recipes& recipes) {
    std::vector<Recipe> all;
    for (const Recipe& recipe : recipes.recipes) {
        all.push_back(recipe);
        for (const Recipe& variant : recipe.variants) all.push_back(variant);
    }
    return all;
}

std::set<std::string> strategies(const Computation& computation) {
    std::set<std::string> ids;
    for (const Recipe& recipe : emit_contraction(computation.problem, computation.graph, machine_with(32, 16)).recipes)
        ids.insert(recipe.strategy.id);
    return ids;
}

class ContractionKernels : public ::testing::Test {
protected:
    void SetUp() override {
        if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
        folder_ = fs::temp_directory_path() / ("strop_contraction_" + std::to_string(getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    // All recipes of the computation, with `change` made to their configurations, at each of the points.
    void expect_right(const Computation& computation, const std::vector<Dimensions>& points,
                      const Machine& machine = machine_with(32, 16), const Configuration& change = {}) {
        Recipes recipes = emit_contraction(computation.problem, computation.graph, machine);
        ASSERT_FALSE(recipes.recipes.empty()) << recipes.lacks;
        std::vector<Recipe> all = flattened(recipes);
        std::vector<Build> builds;
        for (const Recipe& recipe : all) {
            Build build{recipe.source,
                        recipe.initial,
                        parse_tunables(recipe.source, recipe.strategy.id),
                        {kernel_optimization()},
                        false};
            for (const auto& [name, value] : change)
                if (build.configuration.contains(name)) build.configuration[name] = value;
            builds.push_back(build);
        }
        static int count = 0;  // a loaded library stays loaded, so no path may come twice
        fs::path folder = folder_ / std::to_string(count++);
        fs::create_directories(folder);
        CppToolchain toolchain(machine_with(32, 16));
        std::vector<Built> built = toolchain.build(computation.problem, builds, folder, 2);
        std::vector<KernelEntry> entries;
        for (size_t i = 0; i < built.size(); ++i) {
            ASSERT_TRUE(built[i].ok) << all[i].strategy.id << ": " << built[i].message << "\n" << all[i].source;
            void* library = dlopen(built[i].library.c_str(), RTLD_NOW);
            ASSERT_NE(library, nullptr) << dlerror();
            std::copy(built[i].late_values.begin(), built[i].late_values.end(),
                      static_cast<int64_t*>(dlsym(library, late_values_name)));
            KernelEntry entry = reinterpret_cast<KernelEntry>(dlsym(library, kernel_entry_name));
            entries.push_back(entry);
        }
        for (const Dimensions& dims : points) {
            Sample sample = sample_at(computation, dims);
            for (size_t i = 0; i < entries.size(); ++i) run(computation, all[i], entries[i], sample, dims);
        }
    }

private:
    struct Sample {
        std::vector<std::vector<float>> inputs;
        Array expected;
    };

    static Sample sample_at(const Computation& computation, const Dimensions& dims) {
        std::mt19937 random(7);
        std::normal_distribution<float> normal;
        std::map<std::string, Array> inputs;
        Sample sample;
        for (const Tensor& tensor : computation.problem.inputs) {
            Array array{extents(computation.problem, tensor, dims), {}};
            std::vector<float> buffer(1);  // one element in: aligned to nothing wider
            for (int64_t i = 0; i < element_count(array.shape); ++i) {
                buffer.push_back(normal(random));
                array.values.push_back(buffer.back());
            }
            inputs[tensor.name] = array;
            sample.inputs.push_back(buffer);
        }
        Arguments arguments{inputs, bindings_of(computation.problem, dims)};
        for (const Parameter& parameter : computation.problem.parameters)
            arguments.bindings[parameter.name] = parameter.value;
        sample.expected = interpret(computation.graph, arguments)[0];
        return sample;
    }

    static void run(const Computation& computation, const Recipe& recipe, KernelEntry entry, const Sample& sample,
                    const Dimensions& dims) {
        const Array& expected = sample.expected;
        std::vector<std::vector<float>> buffers = sample.inputs;
        const float guard = 12345.5f;
        buffers.emplace_back(expected.values.size() + 66, guard);
        for (size_t i = 33; i + 33 < buffers.back().size(); ++i) buffers.back()[i] = NAN;
        std::vector<void*> tensors;
        for (size_t i = 0; i < buffers.size(); ++i)
            tensors.push_back(buffers[i].data() + (i + 1 == buffers.size() ? 33 : 1));
        std::vector<double> parameters;
        for (const Parameter& parameter : computation.problem.parameters) parameters.push_back(parameter.value);
        std::vector<int64_t> dimensions;
        for (const std::string& name : computation.problem.dimensions) dimensions.push_back(dims.at(name));
        const std::string where = recipe.strategy.id + "+" + recipe.suffix + " at " + strop::describe(dims);
        {
            const DirtyMemory memory;
            entry(tensors.data(), parameters.data(), dimensions.data());
            const bool only_product = std::none_of(computation.graph.nodes.begin(), computation.graph.nodes.end(),
                                                   [](const Node& node) { return node.family == Family::pointwise; });
            if (only_product) {
                ASSERT_FALSE(memory.was_computed_with()) << where;
            }
        }
        const std::vector<float>& result = buffers.back();
        const double rounding = dims.contains("K") ? 1e-7 * static_cast<double>(dims.at("K")) : 0;
        for (size_t i = 0; i < expected.values.size(); ++i)
            ASSERT_NEAR(result[33 + i], expected.values[i], 2e-4 * (1 + std::abs(expected.values[i])) + rounding)
                << where << ", element " << i;
        for (size_t i = 0; i < 33; ++i) {
            ASSERT_EQ(result[i], guard) << where << ": written before the output";
            ASSERT_EQ(result[result.size() - 1 - i], guard) << where << ": written behind the output";
        }
    }

    fs::path folder_;
};

Dimensions mnk(int64_t m, int64_t n, int64_t k) { return {{"M", m}, {"N", n}, {"K", k}}; }

const std::vector<Dimensions>& sizes() {
    static const std::vector<Dimensions> points = {mnk(1, 1, 1),   mnk(0, 5, 3),    mnk(5, 0, 3),    mnk(3, 5, 0),
                                                   mnk(6, 16, 8),  mnk(7, 17, 9),   mnk(64, 48, 32), mnk(1, 100, 70),
                                                   mnk(50, 1, 33), mnk(5, 19, 600), mnk(77, 103, 91)};
    return points;
}

Computation matmul(const std::string& a, const std::string& b) {
    std::map<char, std::string> extents = {{'m', "M"}, {'n', "N"}, {'k', "K"}};
    Computation c;
    int x = c.input("x", {extents[a[0]], extents[a[1]]}), w = c.input("w", {extents[b[0]], extents[b[1]]});
    return c.output(c.einsum(x, w, {a, b, "mn"}, {"M", "N"}));
}

TEST_F(ContractionKernels, PlainProductAtEverySize) { expect_right(matmul("mk", "kn"), sizes()); }
TEST_F(ContractionKernels, TransposedRight) { expect_right(matmul("mk", "nk"), sizes()); }
TEST_F(ContractionKernels, TransposedLeft) { expect_right(matmul("km", "kn"), sizes()); }
TEST_F(ContractionKernels, BothTransposed) { expect_right(matmul("km", "nk"), sizes()); }

TEST_F(ContractionKernels, SmallBlocksAndOtherTiles) {
    Configuration change = {{"MC", int64_t{48}},
                            {"KC", int64_t{128}},
                            {"NC", int64_t{256}},
                            {"MR", int64_t{4}},
                            {"NRV", int64_t{3}},
                            {"DR", int64_t{2}},
                            {"DC", int64_t{6}},
                            {"UNROLL", int64_t{4}},
                            {"SR", int64_t{3}},
                            {"KB", int64_t{8}},
                            {"PARALLEL_MIN", int64_t{50000}}};
    std::vector<Dimensions> points = {mnk(53, 290, 140), mnk(2, 33, 257), mnk(3, 5, 0)};
    expect_right(matmul("mk", "kn"), points, machine_with(32, 16), change);
    expect_right(matmul("mk", "nk"), points, machine_with(32, 16), change);
}

TEST_F(ContractionKernels, WiderAndNarrowerVectors) {
    std::vector<Dimensions> points = {mnk(37, 70, 50), mnk(3, 5, 0)};
    expect_right(matmul("mk", "kn"), points, machine_with(64, 32));
    expect_right(matmul("mk", "nk"), points, machine_with(16, 32));
}

TEST_F(ContractionKernels, Batches) {
    Computation c;
    int x = c.input("x", {"B", "M", "K"}), w = c.input("w", {"B", "K", "N"});
    c.output(c.einsum(x, w, {"bmk", "bkn", "bmn"}, {"B", "M", "N"}));
    expect_right(c, {{{"B", 3}, {"M", 9}, {"N", 21}, {"K", 10}},
                     {{"B", 0}, {"M", 9}, {"N", 21}, {"K", 10}},
                     {{"B", 4}, {"M", 30}, {"N", 40}, {"K", 50}},
                     {{"B", 3}, {"M", 50}, {"N", 40}, {"K", 50}}});
}

TEST_F(ContractionKernels, HeadsInTheMiddleAndOneSharedOperand) {
    // queries [B, S, H, D] with keys [B, T, H, D]: two batch axes that do not lie together.
    Computation scores;
    int q = scores.input("q", {"B", "S", "H", "D"}), k = scores.input("k", {"B", "T", "H", "D"});
    scores.output(scores.einsum(q, k, {"bshd", "bthd", "bhst"}, {"B", "H", "S", "T"}));
    expect_right(scores, {{{"B", 2}, {"S", 7}, {"H", 3}, {"D", 16}, {"T", 9}}});
    // The weights lack the batch axis: rows of all batches are one run.
    Computation shared;
    int x = shared.input("x", {"B", "M", "K"}), w = shared.input("w", {"K", "N"});
    shared.output(shared.einsum(x, w, {"bmk", "kn", "bmn"}, {"B", "M", "N"}));
    EXPECT_EQ(emit_contraction(shared.problem, shared.graph, machine_with(32, 16)).recipes.at(0).source.find("batch"),
              std::string::npos);
    expect_right(shared, {{{"B", 2}, {"M", 7}, {"N", 19}, {"K", 5}}});
}

TEST_F(ContractionKernels, VectorsAndOuterProducts) {
    Computation rows;
    int x = rows.input("x", {"M", "K"}), v = rows.input("v", {"K"});
    rows.output(rows.einsum(x, v, {"mk", "k", "m"}, {"M"}));
    expect_right(rows, {{{"M", 37}, {"K", 100}}, {{"M", 1}, {"K", 3}}, {{"M", 3}, {"K", 0}}, {{"M", 300}, {"K", 700}}});
    Computation columns;
    x = columns.input("x", {"K", "M"}), v = columns.input("v", {"K"});
    columns.output(columns.einsum(x, v, {"km", "k", "m"}, {"M"}));
    expect_right(columns, {{{"M", 37}, {"K", 100}}, {{"M", 300}, {"K", 700}}});
    Computation dot;
    int a = dot.input("a", {"K"}), b = dot.input("b", {"K"});
    dot.output(dot.einsum(a, b, {"k", "k", ""}, {}));
    expect_right(dot, {{{"K", 1000}}, {{"K", 0}}, {{"K", 300001}}});
    Computation outer;
    a = outer.input("a", {"M"}), b = outer.input("b", {"N"});
    outer.output(outer.einsum(a, b, {"m", "n", "mn"}, {"M", "N"}));
    expect_right(outer, {{{"M", 13}, {"N", 21}}});
}

TEST_F(ContractionKernels, AxesThatJoinAndAxesThatStayApart) {
    Computation tensordot;
    int x = tensordot.input("x", {"A", "B", "C", "D"}), w = tensordot.input("w", {"C", "D", "E"});
    tensordot.output(tensordot.einsum(x, w, {"abcd", "cde", "abe"}, {"A", "B", "E"}));
    expect_right(tensordot, {{{"A", 2}, {"B", 5}, {"C", 3}, {"D", 4}, {"E", 18}}});
    // The result's rows and columns interleave, and its last axis belongs to the left operand.
    Computation mixed;
    x = mixed.input("x", {"A", "C", "K"}), w = mixed.input("w", {"B", "K"});
    mixed.output(mixed.einsum(x, w, {"ack", "bk", "abc"}, {"A", "B", "C"}));
    expect_right(mixed, {{{"A", 3}, {"B", 11}, {"C", 20}, {"K", 7}}});
    // Batch innermost: no axis of the result has both unit stride and one operand alone.
    Computation inner;
    x = inner.input("x", {"B", "M", "K"}), w = inner.input("w", {"B", "K", "N"});
    inner.output(inner.einsum(x, w, {"bmk", "bkn", "mnb"}, {"M", "N", "B"}));
    expect_right(inner, {{{"B", 3}, {"M", 8}, {"N", 19}, {"K", 6}}});
}

TEST_F(ContractionKernels, EpilogueWithBiasScaleResidualAndActivation) {
    Computation c;
    int x = c.input("x", {"M", "K"}), w = c.input("w", {"N", "K"}), bias = c.input("bias", {"N"});
    int rows = c.input("row_scale", {"M", "1"}), residual = c.input("residual", {"M", "N"});
    int alpha = c.parameter("alpha", 0.75);
    int y = c.einsum(x, w, {"mk", "nk", "mn"}, {"M", "N"});
    y = c.node(Family::pointwise, "add", {y, bias}, {"M", "N"});
    y = c.node(Family::pointwise, "multiply", {y, rows}, {"M", "N"});
    y = c.node(Family::pointwise, "multiply", {c.node(Family::pointwise, "erf", {y}, {"M", "N"}), y}, {"M", "N"});
    y = c.node(Family::pointwise, "add", {c.node(Family::pointwise, "multiply", {y, alpha}, {"M", "N"}), residual},
               {"M", "N"});
    c.output(c.node(Family::pointwise, "maximum", {y, c.number(0)}, {"M", "N"}));
    expect_right(c, sizes());
}

TEST_F(ContractionKernels, EpilogueThatKeepsBatchesApart) {
    Computation c;
    int x = c.input("x", {"B", "M", "K"}), w = c.input("w", {"K", "N"}), position = c.input("position", {"M", "N"});
    int y = c.einsum(x, w, {"bmk", "kn", "bmn"}, {"B", "M", "N"});
    c.output(c.node(Family::pointwise, "add", {y, position}, {"B", "M", "N"}));
    expect_right(c, {{{"B", 3}, {"M", 7}, {"N", 21}, {"K", 5}}});
}

TEST_F(ContractionKernels, TransposedResultAndTransposedResidual) {
    Computation c;
    int x = c.input("x", {"M", "K"}), w = c.input("w", {"K", "N"}), r = c.input("r", {"M", "N"});
    int y = c.transpose(c.einsum(x, w, {"mk", "kn", "mn"}, {"M", "N"}), {1, 0}, {"N", "M"});
    int turned = c.transpose(r, {1, 0}, {"N", "M"});
    c.output(c.node(Family::pointwise, "add", {y, turned}, {"N", "M"}));
    expect_right(c, {mnk(7, 21, 9), mnk(40, 33, 50)});
}

TEST_F(ContractionKernels, ProducersAreFoldedIntoPacking) {
    Computation c;
    int x = c.input("x", {"M", "K"}), w = c.input("w", {"K", "N"}), scale = c.input("scale", {"K"});
    int positive = c.node(Family::pointwise, "maximum", {x, c.number(0)}, {"M", "K"});
    int scaled = c.node(Family::pointwise, "multiply", {positive, scale}, {"M", "K"});
    c.output(c.einsum(scaled, w, {"mk", "kn", "mn"}, {"M", "N"}));
    EXPECT_EQ(strategies(c), std::set<std::string>{"packed_tiled"});
    expect_right(c, sizes());
}

TEST_F(ContractionKernels, OneArrayReadInTwoWays) {
    Computation c;
    int x = c.input("x", {"M", "K"});
    int turned = c.transpose(x, {1, 0}, {"K", "M"});
    c.output(c.einsum(x, turned, {"mk", "kn", "mn"}, {"M", "M"}));
    expect_right(c, {{{"M", 23}, {"K", 40}}});
    Computation square;
    x = square.input("x", {"M", "M"});
    square.output(square.einsum(x, x, {"mk", "kn", "mn"}, {"M", "M"}));
    expect_right(square, {{{"M", 23}}, {{"M", 0}}});
    Computation residual;
    x = residual.input("x", {"M", "K"});
    int w = residual.input("w", {"K", "K"});
    int y = residual.einsum(x, w, {"mk", "kn", "mn"}, {"M", "K"});
    residual.output(residual.node(Family::pointwise, "add", {y, x}, {"M", "K"}));
    expect_right(residual, {{{"M", 23}, {"K", 20}}});
}

TEST_F(ContractionKernels, NamesThatTheKernelUsesItself) {
    Computation c;
    int a = c.input("a", {"m", "k"}), b = c.input("b", {"k", "NC"}), sums = c.input("sums", {"NC"});
    int y = c.einsum(a, b, {"mk", "kn", "mn"}, {"m", "NC"});
    y = c.node(Family::pointwise, "multiply", {y, c.parameter("value", 2.5)}, {"m", "NC"});
    c.output(c.node(Family::pointwise, "add", {y, sums}, {"m", "NC"}));
    expect_right(c, {{{"m", 9}, {"k", 11}, {"NC", 21}}});
}

TEST(Contraction, OffersStrategiesThatExcludeEachOther) {
    EXPECT_EQ(strategies(matmul("mk", "kn")),
              (std::set<std::string>{"packed_tiled", "packed_right", "direct_tiled", "row_streaming", "split_inner"}));
    EXPECT_EQ(strategies(matmul("mk", "nk")),
              (std::set<std::string>{"packed_tiled", "packed_right", "dot_products", "split_inner"}));
    Computation c = matmul("mk", "kn");
    for (const Recipe& recipe : emit_contraction(c.problem, c.graph, machine_with(32, 16)).recipes) {
        EXPECT_EQ(recipe.strategy.family, "contraction");
        EXPECT_FALSE(recipe.strategy.hypothesis.empty());
        EXPECT_FALSE(recipe.strategy.bottleneck.empty());
        for (const std::string& other : recipe.strategy.excludes) EXPECT_NE(other, recipe.strategy.id);
    }
}

TEST(Contraction, InitialConfigurationsAreMembersOfTheSpace) {
    Computation c = matmul("mk", "kn"), t = matmul("mk", "nk");
    for (const Machine& machine :
         {machine_with(16, 16), machine_with(16, 32), machine_with(32, 16), machine_with(64, 32)})
        for (const Computation* computation : {&c, &t})
            for (const Recipe& recipe :
                 flattened(emit_contraction(computation->problem, computation->graph, machine))) {
                TunableSpace space = parse_tunables(recipe.source, recipe.strategy.id);
                ASSERT_EQ(space.tunables.size(), recipe.initial.size());
                for (const Tunable& tunable : space.tunables) {
                    const Value& value = recipe.initial.at(tunable.name);
                    EXPECT_NE(std::find(tunable.values.begin(), tunable.values.end(), value), tunable.values.end())
                        << recipe.strategy.id << " " << tunable.name;
                }
                for (const Expression& constraint : space.constraints)
                    EXPECT_TRUE(truthy(constraint.evaluate(recipe.initial)))
                        << recipe.strategy.id << ": " << constraint.text() << " with "
                        << strop::describe(recipe.initial);
            }
}

TEST(Contraction, SourceIsTidy) {
    for (const Computation& c : {matmul("mk", "kn"), matmul("km", "nk")})
        for (const Recipe& recipe : flattened(emit_contraction(c.problem, c.graph, machine_with(32, 16)))) {
            EXPECT_EQ(recipe.source.find('@'), std::string::npos) << "a field was left open in " << recipe.strategy.id;
            EXPECT_EQ(recipe.source.find("\n\n\n"), std::string::npos) << recipe.strategy.id;
        }
}

TEST(Contraction, SaysWhatItLacks) {
    std::function<std::string(const Computation&)> lacks = [](const Computation& c) {
        Recipes recipes = emit_contraction(c.problem, c.graph, machine_with(32, 16));
        EXPECT_TRUE(recipes.recipes.empty());
        return recipes.lacks;
    };
    Computation pointwise;
    int x = pointwise.input("x", {"M"});
    pointwise.output(pointwise.node(Family::pointwise, "exp", {x}, {"M"}));
    EXPECT_EQ(lacks(pointwise), "");  // not a contraction at all

    Computation two = matmul("mk", "kn");
    two.graph.outputs.clear();
    two.problem.outputs.clear();
    int v = two.input("v", {"N", "P"});
    two.output(two.einsum(2, v, {"mn", "np", "mp"}, {"M", "P"}));
    EXPECT_NE(lacks(two).find("two contractions"), std::string::npos);

    Computation reduced = matmul("mk", "kn");
    reduced.graph.outputs.clear();
    reduced.problem.outputs.clear();
    reduced.output(reduced.node(Family::reduction, "sum", {2}, {"M"}));
    EXPECT_NE(lacks(reduced).find("contraction"), std::string::npos);

    Computation crossed;
    x = crossed.input("x", {"M", "K", "L"});
    int w = crossed.input("w", {"L", "K", "N"});
    crossed.output(crossed.einsum(x, w, {"mkl", "lkn", "mn"}, {"M", "N"}));
    EXPECT_NE(lacks(crossed).find("do not lie together"), std::string::npos);

    Computation integers = matmul("mk", "kn");
    integers.graph.nodes[0].dtype = DType::int64;
    EXPECT_NE(lacks(integers).find("int64"), std::string::npos);

    Computation partial;
    x = partial.input("x", {"M", "K", "L"});
    w = partial.input("w", {"K", "N"});
    partial.output(partial.einsum(x, w, {"mkl", "kn", "mn"}, {"M", "N"}));
    EXPECT_NE(lacks(partial).find("sum over one operand"), std::string::npos);
}

}  // namespace
}  // namespace strop::playbook
