// Kernels that are right in every compared output and wrong all the same: what sanitizers find in them.
#include <gtest/gtest.h>

#include "base/strings.h"
#include "device/machine.h"
#include "judge/cache_lines.h"
#include "judge/referee.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

constexpr const char* summing = R"(#include <stdint.h>

int64_t widest;
volatile int largest = 2147483647;

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    // before
#pragma omp parallel for schedule(static, 1)
    for (int64_t i = 0; i < M; ++i) {
        float sum = 0;
        // in each row
        for (int64_t j = 0; j < N; ++j) sum += x[i * N + j];
        y[i] = sum;
    }
}
)";

class SanitizeTest : public testing::Test {
protected:
    SanitizeTest() : problem_(load_problem(STROP_SOURCE_DIR "/problems/row_sum")) {
        keep_points(problem_, {"small"});
        problem_.baselines.clear();  // that take long to start; NumPy is always there
        RefereeOptions options;
        options.seed = 3;
        referee_ = std::make_unique<Referee>(problem_, detect_machine(), options);
    }

    EvaluationRequest request(const std::string& mark, const std::string& code) const {
        EvaluationRequest request;
        request.kernel.id = "kernel";
        request.kernel.source = replace_all(summing, "// " + mark, code);
        request.points = problem_.points;
        return request;
    }

    // Of the first or the second kind.
    SanitizerRun run(size_t kind, const std::string& mark, const std::string& code) {
        return referee_->sanitize(request(mark, code), Seconds(60)).at(kind);
    }

    Problem problem_;
    std::unique_ptr<Referee> referee_;
};

constexpr size_t addresses = 0, races = 1;

#define NEEDS(run) \
    if (!(run).missing.empty()) GTEST_SKIP() << (run).missing

void expect_finding(const SanitizerRun& run, Verdict verdict, const std::string& what, const std::string& where) {
    EXPECT_EQ(run.verdict, verdict);
    EXPECT_NE(run.evidence.find(what), std::string::npos) << run.evidence;
    EXPECT_NE(run.evidence.find(where), std::string::npos) << run.evidence;
}

TEST_F(SanitizeTest, an_honest_kernel_passes_both_at_every_shape) {
    for (const SanitizerRun& run : referee_->sanitize(request("none", ""), Seconds(60))) {
        NEEDS(run);
        EXPECT_EQ(run.verdict, Verdict::ok) << run.evidence;
        EXPECT_EQ(run.shapes, 1);
    }
}

TEST_F(SanitizeTest, a_read_behind_the_kernels_own_memory_is_found) {
    const SanitizerRun run = this->run(addresses, "in each row",
                                       "float* own = new float[N > 0 ? 8 : 9]; volatile float one = own[8]; (void)one; "
                                       "delete[] own;");
    NEEDS(run);
    EXPECT_EQ(run.shapes, 0);
    expect_finding(run, Verdict::crashed, "AddressSanitizer: heap-buffer-overflow: READ of size 4 at kernel",
                   ".cpp:11 at M=");
}

// The page before it is the tensor's own, so that nothing faults.
TEST_F(SanitizeTest, a_read_before_an_output_is_found) {
    const SanitizerRun run = this->run(addresses, "before", "volatile float one = y[-1]; (void)one;");
    NEEDS(run);
    expect_finding(run, Verdict::crashed, "use-after-poison", ".cpp:7 at M=");
}

TEST_F(SanitizeTest, undefined_behaviour_is_found) {
    const SanitizerRun run = this->run(addresses, "before", "largest = largest + (M > 0);");
    NEEDS(run);
    expect_finding(run, Verdict::crashed, "UndefinedBehaviorSanitizer: signed integer overflow", ".cpp:7 at M=");
}

TEST_F(SanitizeTest, a_race_that_changes_no_output_is_found) {
    const SanitizerRun run = this->run(races, "in each row", "if (widest < i) widest = i;");
    NEEDS(run);
    expect_finding(run, Verdict::nondeterministic, "ThreadSanitizer: data race", ".cpp:11");
}

TEST_F(SanitizeTest, what_openmp_orders_is_no_race) {
    const SanitizerRun run =
        this->run(races, "in each row", "\n#pragma omp critical\n        if (widest < i) widest = i;");
    NEEDS(run);
    EXPECT_EQ(run.verdict, Verdict::ok) << run.evidence;
    EXPECT_EQ(run.shapes, 1);
}

TEST_F(SanitizeTest, no_time_and_no_build_are_told) {
    EvaluationRequest all = request("none", "");
    all.points = load_problem(STROP_SOURCE_DIR "/problems/row_sum").points;
    SanitizerRun first = referee_->sanitize(all, Seconds(1e-6)).at(addresses);
    if (first.shapes == 0) GTEST_SKIP() << first.missing;
    EXPECT_EQ(first.shapes, 1);
    EXPECT_EQ(first.missing.find("no time was left for "), 0u) << first.missing;
    first = this->run(addresses, "before", "no_such_thing();");
    EXPECT_EQ(first.verdict, Verdict::ok);
    EXPECT_NE(first.missing.find("does not compile"), std::string::npos) << first.missing;
}

TEST_F(SanitizeTest, a_comparison_has_cold_times_when_asked) {
    ComparisonRequest asked;
    const EvaluationRequest kernel = request("none", "");
    asked.contenders = {{"kernel", "", kernel.kernel, {}}, {"numpy", "numpy", {}, {}}};
    asked.points = problem_.points;
    asked.seconds_per_point = 0.05;
    for (bool cold : {false, true}) {
        asked.cold = cold;
        const PointComparison point = referee_->compare(asked).points.at(0);
        const bool possible = cold && flush_from_caches(nullptr, 0);
        for (const ContenderResult& result : point.results) {
            EXPECT_EQ(result.verdict, Verdict::ok) << result.evidence;
            EXPECT_EQ(result.cold.samples_ns.empty(), !possible) << result.name;
            EXPECT_EQ(result.cold.median_ns > 0, possible) << result.name;
        }
    }
}

// Whether the tensors of such a shape are in the last cache depends on what else a program does.
TEST(LastCache, what_fills_it_has_cold_times_unasked) {
    Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    keep_points(problem, {"small"});
    problem.baselines.clear();
    const int64_t bytes = tensor_bytes(problem, problem.points[0].dims);
    EvaluationRequest request;
    request.kernel.source = summing;
    request.points = problem.points;
    ComparisonRequest compared;
    compared.contenders = {{"kernel", "", request.kernel, {}}, {"numpy", "numpy", {}, {}}};
    compared.points = problem.points;
    compared.seconds_per_point = 0.05;
    for (const int64_t last : {bytes / 3, bytes, 3 * bytes}) {
        Machine machine = detect_machine();
        machine.caches = {{1, last}};
        Referee referee(problem, machine, {});
        const bool expected = last == bytes && flush_from_caches(nullptr, 0);
        const Evaluation evaluation = referee.evaluate({request}).front();
        EXPECT_TRUE(evaluation.ok()) << evaluation.evidence;
        EXPECT_EQ(!evaluation.points[0].cold.samples_ns.empty(), expected) << last;
        for (const ContenderResult& result : referee.compare(compared).points.at(0).results)
            EXPECT_EQ(!result.cold.samples_ns.empty(), expected) << result.name << " " << last;
    }
}

}  // namespace
}  // namespace strop::judge
