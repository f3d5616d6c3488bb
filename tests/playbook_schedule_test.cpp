// Strategies as schedules: each, and each variant, computes what NumPy does, by the schedules' interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cuda.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "fakes/called_kernels.h"
#include "fakes/computations.h"
#include "fakes/emulated_kernels.h"
#include "fakes/long_tests.h"
#include "playbook/playbook.h"
#include "playbook/scheduled_strategies.h"
#include "schedule/interpreter.h"

namespace strop::playbook {
namespace {

using testing::IsEmpty;
using testing::Not;

Configuration defaults(const schedule::Schedule& schedule) {
    Configuration chosen;
    for (const Tunable& tunable : schedule.space.tunables) chosen[tunable.name] = tunable.values.front();
    return chosen;
}

void expect_right(const Computation& one, const ScheduledStrategy& strategy) {
    const std::string where = one.problem.name + ", " + strategy.strategy.id + " " + strategy.suffix;
    for (const Point& point : one.points) {
        const Arguments arguments = one.arguments(point);
        if (strategy.schedule.condition && !truthy(strategy.schedule.condition->evaluate(arguments.bindings))) continue;
        const std::vector<Array> found =
            schedule::interpret(one.problem, strategy.schedule, arguments, defaults(strategy.schedule));
        for (size_t k = 0; k < found.size(); ++k) expect_near(found[k].values, point.expected[k].values, 1e-6, where);
        if (testing::Test::HasFatalFailure()) return;
    }
    for (const ScheduledStrategy& variant : strategy.variants) expect_right(one, variant);
}

TEST(Schedules, EveryStrategyOfEveryComputationIsRight) {
    for (const Computation& one : computations()) {
        const ScheduledStrategies found = scheduled_strategies(one.problem, simplify(one.graph));
        ASSERT_THAT(found.strategies, Not(IsEmpty())) << one.problem.name << ": " << found.lacks;
        for (const ScheduledStrategy& strategy : found.strategies) {
            try {
                expect_right(one, strategy);
            } catch (const std::exception& error) {
                ADD_FAILURE() << one.problem.name << ", " << strategy.strategy.id << ": " << error.what();
            }
        }
    }
}

bool has_opencl() { return dlopen("libOpenCL.so.1", RTLD_LAZY) != nullptr; }

TEST(Schedules, EveryComputationIsRightInOpenCL) {
    if (kernel_compilers().empty() || !has_opencl()) GTEST_SKIP() << "no OpenCL here";
    CalledKernels kernels;
    size_t which = 0;
    for (const Computation& one : computations()) {
        if (!is_in_sample(which++)) continue;
        Playbook playbook(one.problem, one.graph_json, small_machine(), Language::opencl);
        std::vector<Kernel> planned;
        for (const Proposal& proposal : playbook.plan()) {
            planned.push_back(proposal.kernel);
            if (proposal.strategy.family == "program") break;  // its launches are those of others too
        }
        ASSERT_THAT(planned, Not(IsEmpty())) << one.problem.name << ": " << playbook.why_nothing();
        kernels.check(one, planned);
        if (HasFatalFailure()) return;
    }
}

std::vector<ScheduledStrategy> of_cuda(const Computation& one) {
    return scheduled_strategies(one.problem, simplify(one.graph), {backend::cuda_kept_bytes, true}).strategies;
}

// All of them as one source, each in a namespace of its own: nvcc takes long to start.
TEST(Schedules, EveryStrategyCompilesInCuda) {
    if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "nvcc is missing";
    std::string all =
        "#include <math.h>\n#include <stdint.h>\n#define LOCAL 128\n#define PARTS 32\n#define TILE_M 64\n"
        "#define TILE_N 64\n#define TILE_K 16\n#define EACH_M 4\n#define EACH_N 4\n#define EACH 4\n";
    int count = 0;
    size_t which = 0;
    for (const Computation& one : computations())
        for (const ScheduledStrategy& strategy : of_cuda(one)) {
            if (!is_in_sample(which++)) continue;
            const backend::SourceText text = backend::write_cuda(one.problem, strategy.schedule);
            ASSERT_EQ(text.lacks, "") << one.problem.name;
            std::string source = replace_all(text.source, "extern \"C\" ", "");
            for (const char* line : {"#include <math.h>\n", "#include <stdint.h>\n"})
                source = replace_all(source, line, "");
            const size_t macro = source.find("#define THREADS");
            if (macro != std::string::npos) source.erase(macro, source.find('\n', macro) - macro);
            all += "namespace strategy_" + std::to_string(count++) + " {\n" + source + "}\n";
        }
    all.insert(0, "#define THREADS ((TILE_M / EACH_M) * (TILE_N / EACH_N))\n");
    const TemporaryFolder folder("strop_cuda_");
    write_file(folder.path() / "all.cu", all);
    const std::string compile = "nvcc -std=c++17 -arch=sm_90 -cubin -o " + (folder.path() / "all.cubin").string() +
                                " " + (folder.path() / "all.cu").string() + " > " + (folder.path() / "said").string() +
                                " 2>&1";
    EXPECT_EQ(std::system(compile.c_str()), 0) << read_file(folder.path() / "said");
    EXPECT_GE(count, 60);
}

struct CudaKernel {
    const Computation* computation;
    std::string id, source;
    std::optional<Expression> condition;
};

void add_cuda(const Computation& one, const ScheduledStrategy& strategy, std::vector<CudaKernel>& kernels) {
    const backend::SourceText text = backend::write_cuda(one.problem, strategy.schedule);
    ASSERT_EQ(text.lacks, "") << one.problem.name;
    kernels.push_back({&one, one.problem.name + ", " + strategy.strategy.id + " " + strategy.suffix, text.source,
                       strategy.schedule.condition});
    for (const ScheduledStrategy& variant : strategy.variants) add_cuda(one, variant, kernels);
}

void expect_right_in_the_emulator(EmulatedKernels& emulator, const CudaKernel& kernel) {
    const Computation& one = *kernel.computation;
    const Built built = emulator.build(one.problem, {kernel.source}).front();
    ASSERT_TRUE(built.ok) << kernel.id << ": " << built.message << "\n" << kernel.source;
    for (const Point& point : one.points) {
        const Arguments arguments = one.arguments(point);
        if (kernel.condition && !truthy(kernel.condition->evaluate(arguments.bindings))) continue;
        std::vector<std::vector<double>> inputs;
        for (const Array& input : point.inputs) inputs.push_back(input.values);
        const EmulatedKernels::Result result = EmulatedKernels::call(one.problem, built, point.dims, inputs);
        const std::string where = kernel.id + " at " + describe(point.dims) + "\n" + kernel.source;
        ASSERT_FALSE(result.finding) << result.finding->evidence << "\n" << where;
        ASSERT_EQ(result.status, 0) << result.said << "\n" << where;
        for (size_t k = 0; k < point.expected.size(); ++k)
            expect_near(result.outputs[k], point.expected[k].values, 2e-4, where);
        if (testing::Test::HasFatalFailure()) return;
    }
}

// Each takes a compiler half a second: all of them in a long run.
TEST(Schedules, CudaKernelsAreRightInTheEmulator) {
    if (!EmulatedKernels::can_be_built()) GTEST_SKIP() << "clang is missing";
    std::vector<CudaKernel> kernels;
    for (const Computation& one : computations())
        for (const ScheduledStrategy& strategy : of_cuda(one)) add_cuda(one, strategy, kernels);
    constexpr size_t usual_count = 8;
    const size_t step = is_long_run() ? 1 : kernels.size() / usual_count;
    EmulatedKernels emulator(small_machine());
    for (size_t i = 0; i < kernels.size(); i += step) expect_right_in_the_emulator(emulator, kernels[i]);
}

}  // namespace
}  // namespace strop::playbook
