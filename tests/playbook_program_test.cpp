// Whole computations as people write them in NumPy (tests/python/computations.py): each is planned, and every
// proposed kernel is compiled and compared with NumPy in float64, as is the interpreter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/machine.h"
#include "graph/batch_loops.h"
#include "graph/graph.h"
#include "graph/interpreter.h"
#include "language/contract.h"
#include "language/cpp.h"
#include "playbook/partition.h"
#include "playbook/playbook.h"
#include "playbook/program_text.h"
#include "playbook/recipe.h"

#include "fakes/called_kernels.h"
#include "fakes/computations.h"
#include "fakes/graph_builder.h"
#include "fakes/long_tests.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;
using testing::Not;

void expect_as_numpy(const Computation& one, const Graph& graph, const Point& point) {
    std::vector<Array> exact = interpret(graph, one.arguments(point));
    std::vector<Array> narrow = interpret(graph, one.arguments(point), Precision::stored);
    for (size_t k = 0; k < exact.size(); ++k) {
        expect_near(exact[k].values, point.expected[k].values, 1e-9, one.problem.name);
        EXPECT_EQ(exact[k].shape, point.expected[k].shape) << one.problem.name;
        expect_near(narrow[k].values, point.expected[k].values, 2e-4, one.problem.name + " in float32");
    }
}

TEST(Programs, TheInterpreterAgreesWithNumPyBeforeAndAfterSimplification) {
    ASSERT_GE(computations().size(), 30u);
    for (const auto* all : {&computations(), &recurrences(), &loops()})
        for (const Computation& one : *all) {
            ASSERT_EQ(one.graph.untraceable, "") << one.problem.name;
            const Graph simple = simplify(one.graph);
            for (const Graph& graph : {one.graph, simple, simplify(batched_loops(simple)),
                                       simplify(batched_loops(simple, Products::before_loops))})
                for (const Point& point : one.points) expect_as_numpy(one, graph, point);
        }
}

std::vector<Kernel> planned(const Computation& one, const Machine& machine = small_machine()) {
    Playbook playbook(one.problem, one.graph_json, machine);
    std::vector<Proposal> proposals = playbook.plan();
    EXPECT_FALSE(proposals.empty()) << one.problem.name << ": " << playbook.why_nothing();
    std::vector<Kernel> kernels;
    for (const Proposal& proposal : proposals) {
        kernels.push_back(proposal.kernel);
        const std::string& family = proposal.strategy.family;
        if (family != "program" && family != "recurrence") break;  // kernels of one stage have tests of their own
    }
    return kernels;
}

const Computation& computation(const std::string& name) {
    for (const auto* all : {&computations(), &recurrences(), &loops()})
        for (const Computation& one : *all)
            if (one.problem.name == name) return one;
    throw std::out_of_range(name);
}

TEST(Programs, FitOtherMachines) {
    if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
    CalledKernels kernels;
    Machine machine = small_machine();
    for (int bytes : {16, 64}) {
        machine.vector_bytes = bytes;
        machine.vector_registers = bytes == 64 ? 32 : 16;
        kernels.check(computation("attention"), planned(computation("attention"), machine));
    }
}

std::string source_of(const std::string& name, const std::string& strategy) {
    for (const Kernel& kernel : planned(computation(name)))
        if (kernel.id == strategy) return kernel.source;
    return {};
}

TEST(Programs, AttentionIsThreeStagesWithTwoBuffers) {
    std::string source = source_of("attention", "fused_stages");
    EXPECT_THAT(source, HasSubstr("namespace stage_3 {"));
    EXPECT_THAT(source, testing::Not(HasSubstr("namespace stage_4 {")));
    EXPECT_THAT(source, HasSubstr("buffer<1>("));
    EXPECT_THAT(source, testing::Not(HasSubstr("buffer<2>(")));
    // Helpers of vectors are written once, and stages that stand alone are another strategy.
    EXPECT_EQ(source.find("typedef float vec "), source.rfind("typedef float vec "));
    EXPECT_NE(source_of("attention", "plain_stages"), "");
    EXPECT_THAT(source_of("mlp", "stages_apart"), HasSubstr("namespace stage_4 {"));
}

TEST(Programs, PlainStagesRunOnTheTeam) {
    std::string source = source_of("mlp", "plain_stages");
    EXPECT_THAT(source, HasSubstr("// strop:team\n"));
    EXPECT_THAT(source, HasSubstr("// strop:late STAGE1_PARALLEL_MIN"));
    EXPECT_THAT(source, HasSubstr("< STAGE2_PARALLEL_MIN ? 1 : team::size(), [=](team::Member me) {"));
    for (const char* name : {"max_pool", "over_middle_axes", "trace_and_diagonal", "bilinear"})
        for (const Kernel& kernel : planned(computation(name)))
            EXPECT_THAT(kernel.source, testing::Not(HasSubstr("omp "))) << name;
}

TEST(Programs, StagesOfPoolingSearchesAndScansAreNoPlainLoops) {
    for (const char* name :
         {"conv_bias_relu_pool", "cumulative_share", "nearest_centroid", "over_middle_axes", "along_long_rows"}) {
        const std::string source = source_of(name, "fused_stages");
        EXPECT_THAT(source, HasSubstr("namespace stage_2 {")) << name;
        EXPECT_THAT(source, testing::Not(HasSubstr(": plain loops"))) << name;
    }
    // What is padded for windows is computed where they read it.
    const std::string pooled = source_of("pooled_activations", "fused_stages");
    EXPECT_THAT(pooled, HasSubstr("namespace stage_2 {"));
    EXPECT_THAT(pooled, testing::Not(HasSubstr("namespace stage_3 {")));
}

size_t occurrences(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// Of the first proposal: "3 stages, 1 loop over steps".
std::string loops_of(const std::string& name) {
    const std::string source = planned(computation(name)).front().source;
    return fmt::format("{} stages, {} loops over steps", occurrences(source, "\nnamespace stage_"),
                       occurrences(source, "struct Recurrence {"));
}

TEST(Programs, StepsThatRepeatAreALoop) {
    const std::string whole = "0 stages, 1 loops over steps";
    for (const char* name : {"recurrent_network", "backwards_network", "long_short_memory", "gated_unit",
                             "one_row_network", "decaying_sums", "every_other_step", "names_of_loops", "filter_of_rows",
                             "filter_in_place", "filter_of_channels"})
        EXPECT_EQ(loops_of(name), whole) << name;
    for (const char* name : {"stacked_networks", "scanned_then_used"})
        EXPECT_EQ(loops_of(name), "2 stages, 1 loops over steps") << name;
    for (const char* name : {"rotated_states", "second_order"})  // columns that move; few steps stay in registers
        EXPECT_THAT(loops_of(name), HasSubstr("0 loops")) << name;
}

TEST(Programs, LoopsOfAnyLengthAreRecurrencesOrProgramsOfAStep) {
    const std::string whole = "0 stages, 1 loops over steps";
    for (const char* name : {"smoothed", "one_series", "network", "memory", "two_averages", "second_order_filter",
                             "spikes", "horner", "running_extrema", "before_each_step", "two_layers", "counted"})
        EXPECT_EQ(loops_of(name), whole) << name;
    for (const char* name : {"state_space", "forward_algorithm", "cheapest_path", "all_pairs"}) {
        EXPECT_THAT(loops_of(name), HasSubstr(" 0 loops")) << name;
        EXPECT_THAT(planned(computation(name)).front().source, HasSubstr("namespace one_step {")) << name;
    }
    // What a step reads side by side is an input of its own.
    EXPECT_THAT(planned(computation("cheapest_path")).front().source,
                HasSubstr("const float* const row_of_cost = cost + ((1 + row) * W);"));
    for (const char* name :
         {"softmax_of_each", "heads_one_by_one", "chunks", "sliding", "backwards_rows", "each_point"})
        EXPECT_THAT(planned(computation(name)).front().source, Not(HasSubstr("namespace one_step {"))) << name;
    EXPECT_EQ(loops_of("rows_then_time"), whole);
    const std::string nested = planned(computation("each_head")).front().source;
    EXPECT_LT(nested.find("namespace one_step {"), nested.find("struct Recurrence {"));
}

TEST(Programs, StatesThatAStepChangesInAFewPlacesStayWhereTheyAre) {
    for (const char* name : {"ring_buffer", "factors", "distances_below", "compacted"}) {
        const std::string source = planned(computation(name)).front().source;
        EXPECT_THAT(source, HasSubstr("const written = ")) << name;
    }
    EXPECT_THAT(planned(computation("ring_buffer")).front().source, Not(HasSubstr("next_state")));
}

TEST(Programs, ALoopMustNotHaveFewerThanNoSteps) {
    Computation one = computation("second_order_filter");
    for (const std::string& name : one.problem.dimensions) one.problem.range[name] = {1, 99, true};
    EXPECT_EQ(Playbook(one.problem, one.graph_json, small_machine()).why_nothing(),
              "the playbook has no emitter for a loop of -1 steps, as there are at T=1: let the range begin at 2 "
              "(range: {T: [2, 99]})");
    one.problem.range["T"].low = 2;
    EXPECT_EQ(Playbook(one.problem, one.graph_json, small_machine()).why_nothing(), "");
}

TEST(Programs, ThreadsMayShareTheColumnsOfAStep) {
    for (const char* name : {"network_of_32", "memory_of_16"}) {
        const Computation& one = computation(name);
        std::vector<std::string> ids;
        for (const Proposal& proposal : Playbook(one.problem, one.graph_json, small_machine()).plan())
            ids.push_back(proposal.strategy.id);
        EXPECT_THAT(ids, testing::UnorderedElementsAre("rows_through_steps", "columns_of_each_step")) << name;
    }
}

TEST(Programs, WhatIsReshapedOnceIsOneKernelOverTheShapeThatIsUsed) {
    const Computation& one = computation("softmax_over_image");
    const Proposal first = Playbook(one.problem, one.graph_json, small_machine()).plan().front();
    EXPECT_NE(first.strategy.family, "program");
    EXPECT_THAT(first.kernel.source, HasSubstr("const int64_t rows = B * C, columns = H * W;"));
}

TEST(Programs, BuffersWhoseLivesDoNotOverlapShareASlot) {
    auto buffer = [](const char* name, const char* extent, size_t first, size_t last) {
        return Buffer{name, DType::float32, {Expression::parse(extent)}, first, last};
    };
    std::vector<Buffer> buffers = {buffer("a", "N", 0, 1), buffer("b", "2*N", 1, 2), buffer("c", "4*N", 2, 3),
                                   buffer("d", "N", 3, 3)};
    EXPECT_THAT(plan_slots(buffers), testing::ElementsAre(0, 1, 0, 1));
    EXPECT_EQ(bytes_of_slots(buffers, {{"N", int64_t{10}}}), 4 * (40 + 20));
}

// As of a deep network: layers of a few widths, one after the other.
TEST(Programs, WhatBuffersTakeIsWrittenOnceForASlot) {
    const auto text = [](size_t count, const char* input) {
        std::vector<StageKernel> kernels(count);
        std::vector<Buffer> buffers;
        for (size_t k = 0; k < count; ++k) {
            kernels[k].problem.name = fmt::format("compute_{}", k);
            const Expression width = Expression::parse(fmt::format("{} * N", k % 3 + 1));
            buffers.push_back({fmt::format("value_{}", k), DType::float32, {width}, k, k + 1});
        }
        Problem problem;
        problem.name = "chain";
        problem.inputs = {{input, DType::float32, {Expression::symbol("N")}, Fill::normal, {}}};
        return write_program(problem, "a chain", kernels, buffers).source;
    };
    EXPECT_EQ(occurrences(text(9, "x"), "const int64_t bytes_"), 2u);
    EXPECT_THAT(text(9, "bytes_1"), HasSubstr("const int64_t bytes_1_ = "));
    EXPECT_LT(text(200, "x").size(), 5 * text(50, "x").size());
}

TEST(Programs, HelpersThatStagesDefineDifferentlyAreTheirOwn) {
    const std::string two = "static int first_of(int a) { return a; }\nstatic int second_of(int a) { return a; }\n\n";
    const std::string other = "static int second_of(int a) { return 2 * a; }\n\n";
    const std::string user = "static int used(int a) { return second_of(a); }\n\n";
    const std::string common = "static int common(int a) { return a; }\n\n";
    std::vector<StageKernel> kernels(4);
    for (size_t k = 0; k < kernels.size(); ++k) {
        kernels[k].problem.name = fmt::format("compute_{}", k);
        kernels[k].source = (k < 2 ? two : other) + user + common;
    }
    Problem problem;
    problem.name = "chain";
    const std::string source = write_program(problem, "a chain", kernels, {}).source;
    const std::string shared = source.substr(0, source.find("namespace stage_1"));
    EXPECT_THAT(shared, HasSubstr("common"));
    EXPECT_THAT(shared, testing::Not(HasSubstr("second_of")));
}

// A program of stages that are alike but for the time that they should take: each a second more than the one before.
ProgramText chain_of(size_t stages, const std::string& source, const Configuration& initial) {
    std::vector<StageKernel> kernels(stages);
    for (size_t k = 0; k < stages; ++k) {
        kernels[k].problem.name = fmt::format("compute_{}", k);
        kernels[k].seconds = static_cast<double>(k);
        kernels[k].initial = initial;
        kernels[k].source = source;
    }
    Problem problem;
    problem.name = "chain";
    return write_program(problem, "a chain", kernels, {});
}

TEST(Programs, LateTunablesOfTheQuickestStagesAreConstantsWhereThereAreTooMany) {
    constexpr size_t stages = 12;
    const ProgramText text = chain_of(stages,
                                      "// strop:late BLOCK = 16 | 32\n// strop:late LIMIT = 4 | 8\n"
                                      "// strop:late PART = 1 | 2\n// strop:late TIED = 1 | 2\n"
                                      "// strop:require TIED <= BLOCK\n",
                                      {{"BLOCK", int64_t{32}}, {"LIMIT", int64_t{8}}});
    const TunableSpace space = parse_tunables(text.source, "chain");  // throws where there are too many
    const size_t late = static_cast<size_t>(std::count_if(
        space.tunables.begin(), space.tunables.end(), [](const Tunable& t) { return t.kind == Tunable::Kind::late; }));
    EXPECT_EQ(late, most_late_tunables);
    EXPECT_EQ(space.constraints.size(), stages);
    EXPECT_THAT(text.source, HasSubstr("constexpr int64_t STAGE1_LIMIT = 8;"));
    EXPECT_THAT(text.source, HasSubstr("// strop:late STAGE1_BLOCK = 16 | 32"));
    EXPECT_THAT(text.source, HasSubstr("// strop:late STAGE12_LIMIT = 4 | 8"));
    EXPECT_FALSE(text.initial.contains("STAGE1_LIMIT"));
    EXPECT_TRUE(text.initial.contains("STAGE12_LIMIT"));
}

// Of the number of its configurations, conditions aside.
double bits_of_space(const std::string& source) {
    double bits = 0;
    for (const Tunable& tunable : parse_tunables(source, "a program").tunables)
        bits += std::log2(static_cast<double>(tunable.values.size()));
    return bits;
}

// A program of many stages has a space that can be searched at all: configurations are counted in 64 bits.
TEST(Programs, TunablesOfTheQuickestStagesAreConstantsWhereConfigurationsAreTooMany) {
    const ProgramText text = chain_of(30,
                                      "// strop:tune VL = 8 | 16\n// strop:tune TILE = 16 | 32 | 64 | 128\n"
                                      "// strop:tune UNROLL = 1 | 2 | 4 | 8\n",
                                      {{"TILE", int64_t{32}}});
    const double bits = bits_of_space(text.source);
    EXPECT_GT(bits, 50);
    EXPECT_LT(bits, 64);
    EXPECT_THAT(text.source, HasSubstr("constexpr int STAGE1_TILE = 32;"));
    EXPECT_THAT(text.source, HasSubstr("// strop:tune STAGE30_TILE = 16 | 32 | 64 | 128"));
    EXPECT_THAT(text.source, HasSubstr("// strop:tune VL = 8 | 16"));
    EXPECT_FALSE(text.initial.contains("STAGE1_TILE"));
    EXPECT_TRUE(text.initial.contains("STAGE30_TILE"));
}

// Conditions tie tunables: those of a whole stage become constants, and a condition on the vectors' length stays.
TEST(Programs, TunablesThatConditionsTieBecomeConstantsWithAllOfTheirStage) {
    const ProgramText text = chain_of(40,
                                      "// strop:tune VL = 8 | 16\n// strop:tune MR = 1 | 2 | 4 | 8\n"
                                      "// strop:tune NR = 1 | 2 | 4 | 8\n// strop:require MR * NR <= 16\n"
                                      "// strop:require NR * VL <= 64\n",
                                      {{"MR", int64_t{2}}, {"NR", int64_t{4}}});
    const double bits = bits_of_space(text.source);
    EXPECT_GT(bits, 50);
    EXPECT_LT(bits, 64);
    EXPECT_THAT(text.source, HasSubstr("constexpr int STAGE1_NR = 4;"));
    EXPECT_THAT(text.source, HasSubstr("// strop:require 4 * VL <= 64\n"));
    EXPECT_THAT(text.source, Not(HasSubstr("STAGE1_MR * STAGE1_NR <=")));
    EXPECT_THAT(text.source, HasSubstr("// strop:require STAGE40_MR * STAGE40_NR <= 16\n"));
    EXPECT_THAT(text.source, HasSubstr("// strop:require STAGE40_NR * VL <= 64\n"));
}

// A network whose layers all differ: those that should take longest have kernels of their own, the others plain loops.
TEST(Programs, DeepNetworksKeepFastKernelsForTheirHeaviestLayers) {
    GraphBuilder builder("deep");
    const size_t layers = 80;
    int state = builder.input("x", {"M", "16"});
    for (size_t k = 0; k < layers; ++k) {
        const std::string from = std::to_string(16 + k), to = std::to_string(17 + k);
        state = builder.einsum(state, builder.input(fmt::format("w_{}", k), {from, to}), {"mk", "kn", "mn"}, {"M", to});
        state = builder.point("tanh", {state});
    }
    builder.output("y", state);
    builder.problem.points = {{"small", {{"M", 64}}}};
    const Recipes recipes = emit_program(builder.problem, builder.graph, small_machine());
    const auto fused = std::find_if(recipes.recipes.begin(), recipes.recipes.end(),
                                    [](const Recipe& recipe) { return recipe.strategy.id == "fused_stages"; });
    ASSERT_NE(fused, recipes.recipes.end()) << recipes.lacks;
    const size_t plain = occurrences(fused->source, ": plain loops\n");
    EXPECT_EQ(occurrences(fused->source, "\nnamespace stage_") - plain, 64u);
    EXPECT_THAT(fused->source, HasSubstr(fmt::format("namespace stage_{} {{", layers)));
    EXPECT_GE(plain, layers - 64);
    EXPECT_LT(fused->source.find(": plain loops\n"), fused->source.find("namespace stage_64 {"));
    EXPECT_LT(bits_of_space(fused->source), 64);
}

// Queries, keys and values that one product makes are cut out of it: they are copied, and multiplied as others are.
TEST(Programs, ProductsOfWhatIsCutOutAreNoPlainLoops) {
    const Computation& one = computation("joint_attention");
    Playbook playbook(one.problem, one.graph_json, small_machine());
    const std::vector<Proposal> proposals = playbook.plan();
    ASSERT_FALSE(proposals.empty());
    const std::string& source = proposals.front().kernel.source;
    EXPECT_THAT(source, HasSubstr("plain loops"));  // the copies
    EXPECT_THAT(source, testing::Not(HasSubstr("// product_values: plain loops")));
    EXPECT_THAT(source, testing::Not(HasSubstr("// product_values_2: plain loops")));
}

TEST(Programs, WhatSeveralPartsOfAResultReadIsComputedOnceInOneNest) {
    const std::string source = source_of("hue_saturation_value", "fused_stages");
    EXPECT_THAT(source, HasSubstr("//   1. compute_y0\n"));
    EXPECT_THAT(source, Not(HasSubstr("//   2. ")));
    EXPECT_EQ(occurrences(source, "const float difference ="), 1u) << source;
    EXPECT_EQ(occurrences(source, "team::parallel("), 1u);
}

TEST(Programs, LayersThatRepeatHaveOneFunction) {
    for (const std::string strategy : {"plain_stages", "fused_stages"}) {
        const std::string source = source_of("three_layers", strategy);
        EXPECT_EQ(occurrences(source, "\nnamespace stage_"), strategy == "fused_stages" ? 2u : 4u) << source;
        EXPECT_EQ(occurrences(source, "    stage_1::"), 3u) << source;
    }
}

// Each step reads the one before twice: what looks at every path from the end would not come back.
TEST(Programs, LongChainsBeforeAShortSumArePlanned) {
    GraphBuilder builder("chain");
    int state = builder.input("x", {"M", "N", "3"});
    for (int step = 0; step < 60; ++step) state = builder.point("add", {state, builder.point("sin", {state})});
    builder.output("y", builder.scan("sum", builder.reduce("sum", state, {2}, false), 1));
    EXPECT_FALSE(emit_program(builder.problem, builder.graph, small_machine()).recipes.empty());
}

TEST(Programs, RowsAreSortedWithoutComparingAllPairs) {
    const std::string rows = source_of("rows_in_order", "plain_stages");
    EXPECT_EQ(occurrences(rows, "    sorted_in<false>("), 3u) << rows;
    EXPECT_EQ(occurrences(rows, "    order_in<false>("), 1u) << rows;
    EXPECT_THAT(rows, Not(HasSubstr("logical_or")));
    const std::string few = source_of("order_of_a_few", "plain_stages");
    EXPECT_THAT(few, Not(HasSubstr("sorted_in")));
    EXPECT_THAT(few, HasSubstr("min_of<float>"));
}

TEST(Programs, WhatIsNotReadOfSortedRowsIsNotSorted) {
    const std::string source = source_of("first_of_rows", "plain_stages");
    EXPECT_EQ(occurrences(source, "N, 0, N / 2 + 1, &"), 1u) << source;
    EXPECT_EQ(occurrences(source, "    order_in<false>("), 1u) << source;
    EXPECT_EQ(occurrences(source, "N, 3, &"), 1u) << source;
    EXPECT_EQ(occurrences(source, "N, 2, 5, &"), 1u) << source;
}

TEST(Programs, SortsOfOneValueInBothDirectionsAreSorts) {
    const std::string source = source_of("both_orders", "fused_stages");
    EXPECT_GE(occurrences(source, "    order_in<false>("), 2u) << source;
    EXPECT_THAT(source, Not(HasSubstr("logical_or")));
    EXPECT_THAT(source, Not(HasSubstr("N * N")));
}

TEST(Programs, DistancesOfAllPointsAreNotStored) {
    for (const std::string strategy : {"plain_stages", "fused_stages"})
        EXPECT_THAT(source_of("nearest_points", strategy), Not(HasSubstr("B * N * M * (int64_t)sizeof"))) << strategy;
}

TEST(Programs, TablesThatTakeLongAreStored) {
    for (const std::string strategy : {"plain_stages", "fused_stages"})
        EXPECT_THAT(source_of("cosine_transform", strategy), HasSubstr("compute_converted_values\n")) << strategy;
    EXPECT_THAT(source_of("turned_by_position", "fused_stages"), HasSubstr("compute_converted_values\n"));
}

TEST(Programs, StrategiesAreArrangedByRank) {
    const Computation& one = computation("attention");
    Playbook playbook(one.problem, one.graph_json, small_machine());
    auto ids = [&] {
        std::vector<std::string> names;
        for (const Proposal& proposal : playbook.plan()) names.push_back(proposal.strategy.id);
        return names;
    };
    const std::vector<std::string> before = ids();
    ASSERT_GE(before.size(), 3u);
    playbook.arrange({{before.front(), 1}, {before.back(), -1}});
    std::vector<std::string> expected(before.begin() + 1, before.end() - 1);
    expected.insert(expected.begin(), before.back());
    expected.push_back(before.front());
    EXPECT_EQ(ids(), expected);
}

TEST(Programs, SayWhenTheirBuffersDoNotFit) {
    Computation huge = computation("attention");
    huge.problem.points = {{"long", {{"B", 1}, {"H", 1}, {"S", 1 << 20}, {"T", 1 << 20}, {"D", 1}}}};
    Playbook playbook(huge.problem, huge.graph_json, small_machine());
    EXPECT_TRUE(playbook.plan().empty());
    EXPECT_THAT(playbook.why_nothing(), HasSubstr("GiB at the shape 'long': make that shape smaller"));
}

// x, then `count` operations: one of so many is not fused.
std::string long_graph(int count, int apart) {
    std::string text = R"({"nodes": [{"family": "input", "op": "x", "shape": ["M", "N"]})";
    for (int i = 0; i < count; ++i)
        text +=
            i % apart == apart - 1
                ? fmt::format(
                      R"(, {{"family": "scan", "op": "sum", "operands": [{}], "axes": [1], "shape": ["M", "N"]}})", i)
                : fmt::format(R"(, {{"family": "pointwise", "op": "{}", "operands": [{}], "shape": ["M", "N"]}})",
                              i % 2 ? "tanh" : "sin", i);
    return text + fmt::format(R"(], "outputs": [{}]}})", count);
}

TEST(Programs, LongComputationsArePlainOrRefusedWithANumber) {
    Computation one;
    one.problem.name = "chain";
    one.problem.dimensions = {"M", "N"};
    std::vector<Expression> shape = {Expression::symbol("M"), Expression::symbol("N")};
    one.problem.inputs = {{"x", DType::float32, shape, Fill::normal, {}}};
    one.problem.outputs = {{"y", DType::float32, shape, Fill::normal, {}}};
    one.problem.points = {{"small", {{"M", 3}, {"N", 5}}}};
    EXPECT_EQ(Playbook(one.problem, long_graph(1200, 10), small_machine()).plan().size(), 2u);
    std::vector<Proposal> proposals = Playbook(one.problem, long_graph(4200, 50), small_machine()).plan();
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].strategy.id, "plain_stages");
    Playbook refused(one.problem, long_graph(10000, 4), small_machine());
    EXPECT_THAT(refused.why_nothing(), HasSubstr("stages (at most 2000): cut the reference into several problems"));
}

// The first proposal of each; of a sample, and in a long run of each, all that are made of the same parts.
// STROP_TEST_COMPUTATION=NAME: all of that one only.
TEST(Programs, EveryComputationIsPlannedAndEveryProposalIsRight) {
    if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
    const char* only = std::getenv("STROP_TEST_COMPUTATION");
    CalledKernels kernels;
    size_t which = 0;
    for (const auto* all : {&computations(), &recurrences(), &loops()})
        for (const Computation& one : *all) {
            if (only && one.problem.name != only) continue;
            std::vector<Kernel> proposed = planned(one);
            if (!only && !is_in_sample(which++) && !proposed.empty()) proposed.resize(1);
            kernels.check(one, proposed);
            if (HasFatalFailure()) return;
        }
}

}  // namespace
}  // namespace strop::playbook
