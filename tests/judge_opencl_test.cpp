// Programs that a driver compiles, under the judge of C++ kernels.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "language/contract.h"
#include "language/opencl_host.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

using testing::HasSubstr;

constexpr const char* summing = R"(// strop:tune LOCAL = 16 | 4
// strop:launch row_sum global M * LOCAL local LOCAL
__kernel void row_sum(__global const float* x, __global float* y, long M, long N) {
    __local float part[LOCAL];
    const long row = get_group_id(0);
    const int me = get_local_id(0);
    float sum = 0;
    for (long j = me; j < N; j += LOCAL) sum += x[row * N + j];
    part[me] = sum;
    for (int width = LOCAL / 2; width > 0; width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < width) part[me] += part[me + width];
    }
    if (me == 0) y[row] = part[0];
}
)";

class OpenClJudge : public testing::Test {
protected:
    OpenClJudge() : problem_(load_problem(STROP_SOURCE_DIR "/problems/row_sum")) {
        keep_points(problem_, {"small"});
        problem_.baselines.clear();  // that take long to start; NumPy is always there
        referee_ = std::make_unique<Referee>(problem_, detect_machine(), RefereeOptions{});
    }

    void SetUp() override {
        if (!std::filesystem::exists("/etc/OpenCL/vendors/pocl.icd"))
            GTEST_SKIP() << "no PoCL (apt-get install pocl-opencl-icd)";
    }

    Kernel kernel(const std::string& from, const std::string& to) const {
        Kernel kernel;
        kernel.id = "kernel";
        kernel.language = Language::opencl;
        kernel.source = opencl_host(problem_, read_opencl(replace_all(summing, from, to), problem_, "kernel.cl"));
        kernel.space = parse_tunables(kernel.source, "kernel.cl");
        return kernel;
    }

    Evaluation judge(const std::string& from = "", const std::string& to = "", int64_t local = 16) {
        EvaluationRequest request;
        request.kernel = kernel(from.empty() ? "__kernel" : from, from.empty() ? "__kernel" : to);
        request.configuration = {{"LOCAL", local}};
        request.points = problem_.points;
        return referee_->evaluate({request}).front();
    }

    Problem problem_;
    std::unique_ptr<Referee> referee_;
};

TEST_F(OpenClJudge, right_programs_are_ok_and_wrong_ones_are_not) {
    for (int64_t local : {16, 4}) {
        const Evaluation right = judge("", "", local);
        EXPECT_EQ(right.verdict, Verdict::ok) << right.evidence;
    }
    EXPECT_EQ(judge("part[0];", "part[0] + 1e-3f;").verdict, Verdict::wrong_output);
    EXPECT_EQ(judge("row * N + j", "0").verdict, Verdict::wrong_output);
}

TEST_F(OpenClJudge, what_the_driver_refuses_is_not_compiled) {
    const Evaluation unknown = judge("sum += x", "summ += x");
    EXPECT_EQ(unknown.verdict, Verdict::compile_failed);
    EXPECT_THAT(unknown.evidence, HasSubstr("use of undeclared identifier 'summ'"));
    EXPECT_THAT(unknown.evidence, testing::Not(HasSubstr("/driver/")));
    const Evaluation large = judge("local LOCAL", "local LOCAL * 65536");
    EXPECT_EQ(large.verdict, Verdict::compile_failed);
    EXPECT_THAT(large.evidence, HasSubstr("a launch (error -54)"));
}

// Of which PoCL compiles another kind, unless the process has met a large one.
TEST_F(OpenClJudge, small_launches_are_compiled_ahead_though_large_ones_are_named_first) {
    problem_.points = {{"large", {{"M", 8000}, {"N", 3}}}, {"tiny", {{"M", 2}, {"N", 3}}}};
    const Evaluation both = judge();
    EXPECT_EQ(both.verdict, Verdict::ok) << both.evidence;
}

TEST_F(OpenClJudge, writes_beside_the_tensors_crash) {
    EXPECT_EQ(judge("y[row] = part[0];", "y[row] = part[0], y[M + (1 << 20)] = 1;").verdict, Verdict::crashed);
}

// What would be seen of the host alone is not claimed.
TEST_F(OpenClJudge, sanitizers_are_said_to_see_nothing) {
    EvaluationRequest request;
    request.kernel = kernel("__kernel", "__kernel");
    request.configuration = {{"LOCAL", int64_t{16}}};
    request.points = problem_.points;
    for (const SanitizerRun& run : referee_->sanitize(request, Seconds(10)))
        EXPECT_THAT(run.missing, HasSubstr("OpenCL"));
}

}  // namespace
}  // namespace strop::judge
