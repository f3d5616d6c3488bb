// Whole computations as people write them in NumPy (tests/python/computations.py): each is planned, and every
// proposed kernel is compiled and compared with NumPy in float64, as is the interpreter.
#include <dlfcn.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "device/machine.h"
#include "graph/graph.h"
#include "graph/interpreter.h"
#include "language/contract.h"
#include "language/cpp.h"
#include "playbook/partition.h"
#include "playbook/playbook.h"
#include "playbook/program_text.h"

namespace strop::playbook {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string output_of(const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char block[65536];
    while (size_t count = fread(block, 1, sizeof block, pipe)) text.append(block, count);
    pclose(pipe);
    return text;
}

struct Point {
    Dimensions dims;
    std::vector<Array> inputs, expected;
};

struct Computation {
    Problem problem;
    std::string graph_json;
    Graph graph;
    std::vector<Point> points;

    Arguments arguments(const Point& point) const {
        Arguments result{{}, bindings_of(problem, point.dims)};
        for (size_t k = 0; k < point.inputs.size(); ++k)
            result.inputs[problem.inputs[k].name] = point.inputs[k];
        return result;
    }
};

Array array_of(const Json& json) {
    return {json.at("shape").get<std::vector<int64_t>>(), json.at("values").get<std::vector<double>>()};
}

Computation read(const Json& json) {
    Computation made;
    made.problem.name = json.at("name").get<std::string>();
    made.graph_json = json.at("graph").get<std::string>();
    made.graph = parse_graph(made.graph_json);
    for (const Json& input : json.at("inputs")) {
        Tensor tensor{input.at("name").get<std::string>(),
                      *parse_dtype(input.at("dtype").get<std::string>()),
                      {},
                      Fill::normal,
                      {}};
        for (const Json& extent : input.at("shape"))
            tensor.shape.push_back(Expression::parse(extent.get<std::string>()));
        made.problem.inputs.push_back(std::move(tensor));
    }
    for (size_t k = 0; k < made.graph.outputs.size(); ++k) {
        DType dtype = *parse_dtype(json.at("outputs").at(k).get<std::string>());
        // NumPy's scalars are wider than the arrays that they come from.
        if (dtype == DType::float64) dtype = DType::float32;
        made.problem.outputs.push_back(
            {fmt::format("y{}", k), dtype, made.graph.at(made.graph.outputs[k]).shape, Fill::normal, {}});
    }
    for (const Json& point : json.at("points")) {
        Point one;
        one.dims = point.at("dims").get<Dimensions>();
        for (const Json& array : point.at("inputs")) one.inputs.push_back(array_of(array));
        for (const Json& array : point.at("expected")) one.expected.push_back(array_of(array));
        made.points.push_back(std::move(one));
        made.problem.points.push_back({"point", made.points.back().dims});
    }
    for (const auto& [name, value] : made.points.at(0).dims) made.problem.dimensions.push_back(name);
    return made;
}

const std::vector<Computation>& computations() {
    static const std::vector<Computation> all = [] {
        std::vector<Computation> made;
        std::string command =
            fmt::format("{} {}/tests/python/export_computations.py", reference_python(), STROP_SOURCE_DIR);
        for (const Json& json : Json::parse(output_of(command))) made.push_back(read(json));
        return made;
    }();
    return all;
}

Machine small_machine() {
    Machine machine;
    machine.vector_bytes = 32;
    machine.cores = 2;
    machine.memory_bytes = int64_t{8} << 30;
    machine.caches = {{1, 32768, 1, 0}, {2, 524288, 1, 0}, {3, 32 << 20, 2, 0}};
    return machine;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance,
                 const std::string& where) {
    ASSERT_EQ(actual.size(), expected.size()) << where;
    for (size_t i = 0; i < actual.size(); ++i) {
        if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
        ASSERT_NEAR(actual[i], expected[i], tolerance * (1 + std::fabs(expected[i])))
            << where << ", element " << i;
    }
}

TEST(Programs, TheInterpreterAgreesWithNumPyBeforeAndAfterSimplification) {
    ASSERT_GE(computations().size(), 30u);
    for (const Computation& one : computations()) {
        ASSERT_EQ(one.graph.untraceable, "") << one.problem.name;
        for (const Graph& graph : {one.graph, simplify(one.graph)})
            for (const Point& point : one.points) {
                std::vector<Array> exact = interpret(graph, one.arguments(point));
                std::vector<Array> narrow = interpret(graph, one.arguments(point), Precision::stored);
                for (size_t k = 0; k < exact.size(); ++k) {
                    expect_near(exact[k].values, point.expected[k].values, 1e-9, one.problem.name);
                    EXPECT_EQ(exact[k].shape, point.expected[k].shape) << one.problem.name;
                    expect_near(narrow[k].values, point.expected[k].values, 2e-4,
                                one.problem.name + " in float32");
                }
            }
    }
}

// Compiles all, then calls each at all points between guards.
class Kernels {
public:
    // A folder of its own: the loader gives a path that it has opened before the library that it had there.
    Kernels() {
        static int made = 0;
        folder_ = fs::temp_directory_path() / fmt::format("strop_programs_{}_{}", getpid(), made++);
        fs::create_directories(folder_);
    }
    ~Kernels() { fs::remove_all(folder_); }

    void check(const Computation& one, const std::vector<Kernel>& kernels) {
        std::vector<Build> builds;
        for (const Kernel& kernel : kernels)
            builds.push_back({kernel.source, kernel.initial, kernel.space, {"-O1"}, false});
        fs::path folder = folder_ / std::to_string(count_++);
        fs::create_directories(folder);
        std::vector<Built> built = CppToolchain(small_machine()).build(one.problem, builds, folder, 2);
        for (size_t i = 0; i < built.size(); ++i) {
            ASSERT_TRUE(built[i].ok) << kernels[i].id << ": " << built[i].message << "\n"
                                     << kernels[i].source;
            void* library = dlopen(built[i].library.c_str(), RTLD_NOW);
            ASSERT_NE(library, nullptr) << dlerror();
            if (void* late = dlsym(library, late_values_name))
                std::copy(built[i].late_values.begin(), built[i].late_values.end(),
                          static_cast<int64_t*>(late));
            auto entry = reinterpret_cast<KernelEntry>(dlsym(library, kernel_entry_name));
            for (const Point& point : one.points) {
                if (!may_be_called(kernels[i], bindings_of(one.problem, point.dims))) continue;
                for (int repeat = 0; repeat < 2; ++repeat) call(one, kernels[i], entry, point);
                if (testing::Test::HasFatalFailure()) return;
            }
        }
    }

private:
    static void put(void* memory, size_t i, DType dtype, double value) {
        switch (dtype) {
            case DType::float32: static_cast<float*>(memory)[i] = static_cast<float>(value); break;
            case DType::int64: static_cast<int64_t*>(memory)[i] = static_cast<int64_t>(value); break;
            case DType::boolean: static_cast<bool*>(memory)[i] = value != 0; break;
            default: FAIL() << "no such type here";
        }
    }
    static double get(const void* memory, size_t i, DType dtype) {
        if (dtype == DType::float32) return static_cast<double>(static_cast<const float*>(memory)[i]);
        if (dtype == DType::int64) return static_cast<double>(static_cast<const int64_t*>(memory)[i]);
        return static_cast<const bool*>(memory)[i];
    }

    static void call(const Computation& one, const Kernel& kernel, KernelEntry entry, const Point& point) {
        constexpr size_t guard = 64;
        std::vector<std::vector<char>> memory;
        std::vector<void*> tensors;
        auto add = [&](const Tensor& tensor, const std::vector<double>& values) {
            size_t size = size_of(tensor.dtype);
            memory.emplace_back(values.size() * size + 2 * guard + size, char(0x55));
            tensors.push_back(memory.back().data() + guard + size);
        };
        for (size_t k = 0; k < point.inputs.size(); ++k) {
            add(one.problem.inputs[k], point.inputs[k].values);
            for (size_t i = 0; i < point.inputs[k].values.size(); ++i)
                put(tensors.back(), i, one.problem.inputs[k].dtype, point.inputs[k].values[i]);
        }
        for (size_t k = 0; k < point.expected.size(); ++k)
            add(one.problem.outputs[k], point.expected[k].values);
        std::vector<int64_t> dims;
        for (const std::string& name : one.problem.dimensions) dims.push_back(point.dims.at(name));
        std::vector<double> none(1);
        entry(tensors.data(), none.data(), dims.data());
        std::string where = one.problem.name + " " + kernel.id + " at " + strop::describe(point.dims);
        for (size_t k = 0; k < point.expected.size(); ++k) {
            const std::vector<char>& bytes = memory[point.inputs.size() + k];
            std::vector<double> actual;
            for (size_t i = 0; i < point.expected[k].values.size(); ++i)
                actual.push_back(get(tensors[point.inputs.size() + k], i, one.problem.outputs[k].dtype));
            expect_near(actual, point.expected[k].values, 2e-4, where + "\n" + kernel.source);
            if (testing::Test::HasFatalFailure()) return;
            for (size_t i = 0; i < guard; ++i) {
                ASSERT_EQ(bytes[i], 0x55) << where << ": written before output " << k;
                ASSERT_EQ(bytes[bytes.size() - 1 - i], 0x55) << where << ": written behind output " << k;
            }
        }
    }

    fs::path folder_;
    int count_ = 0;
};

std::vector<Kernel> planned(const Computation& one, const Machine& machine = small_machine()) {
    Playbook playbook(one.problem, one.graph_json, machine);
    std::vector<Proposal> proposals = playbook.plan();
    EXPECT_FALSE(proposals.empty()) << one.problem.name << ": " << playbook.why_nothing();
    std::vector<Kernel> kernels;
    for (const Proposal& proposal : proposals) {
        kernels.push_back(proposal.kernel);
        if (proposal.strategy.family != "program") break;  // kernels of one stage have tests of their own
    }
    return kernels;
}

const Computation& computation(const std::string& name) {
    for (const Computation& one : computations())
        if (one.problem.name == name) return one;
    throw std::out_of_range(name);
}

TEST(Programs, FitOtherMachines) {
    if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
    Kernels kernels;
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
    std::string source = source_of("max_pool", "fused_stages");
    EXPECT_THAT(source, HasSubstr("// strop:team\n"));
    EXPECT_THAT(source, HasSubstr("// strop:late STAGE1_PARALLEL_MIN"));
    EXPECT_THAT(source, HasSubstr("< STAGE2_PARALLEL_MIN ? 1 : team::size(), [=](team::Member me) {"));
    for (const char* name : {"max_pool", "over_middle_axes", "trace_and_diagonal", "bilinear"})
        for (const Kernel& kernel : planned(computation(name)))
            EXPECT_THAT(kernel.source, testing::Not(HasSubstr("omp "))) << name;
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

// x, then `count` operations that alternate between what is fused and what is not.
std::string long_graph(int count) {
    std::string text = R"({"nodes": [{"family": "input", "op": "x", "shape": ["M", "N"]})";
    for (int i = 0; i < count; ++i)
        text +=
            i % 10 == 9
                ? fmt::format(
                      R"(, {{"family": "scan", "op": "sum", "operands": [{}], "axes": [1], "shape": ["M", "N"]}})",
                      i)
                : fmt::format(
                      R"(, {{"family": "pointwise", "op": "{}", "operands": [{}], "shape": ["M", "N"]}})",
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
    std::vector<Proposal> proposals = Playbook(one.problem, long_graph(1200), small_machine()).plan();
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].strategy.id, "plain_stages");
    Playbook refused(one.problem, long_graph(10000), small_machine());
    EXPECT_THAT(refused.why_nothing(), HasSubstr("stages (at most 400): cut the reference into several problems"));
}

// STROP_TEST_COMPUTATION=NAME: that one only.
TEST(Programs, EveryComputationIsPlannedAndEveryProposalIsRight) {
    if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
    const char* only = std::getenv("STROP_TEST_COMPUTATION");
    Kernels kernels;
    for (const Computation& one : computations()) {
        if (only && one.problem.name != only) continue;
        kernels.check(one, planned(one));
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace strop::playbook
