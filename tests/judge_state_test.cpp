// What a kernel may keep from call to call, and what not: nothing that depends on inputs. And batches of any length
// have to say the same of a call.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

constexpr const char* problem_yaml = R"(
name: scale
inputs:
  x: {dtype: float32, shape: [M, N]}
parameters: {factor: {dtype: float32, value: 2.5}}
outputs: {y: {dtype: float32, shape: [M, N]}, total: {dtype: float32, shape: [M]}}
shapes:
  small: {M: 8, N: 33}
  medium: {M: 160, N: 512}
)";

constexpr const char* reference_py = R"(
def scale(x, factor):
    return x * factor, x.sum(axis=-1)
)";

class StateTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TemporaryFolder("strop-test");
        write_file(folder_->path() / "scale/problem.yaml", problem_yaml);
        write_file(folder_->path() / "scale/reference.py", reference_py);
        problem_ = new Problem(load_problem((folder_->path() / "scale").string()));
        RefereeOptions options;
        options.seed = 7;
        referee_ = new Referee(*problem_, detect_machine(), options);
    }
    static void TearDownTestSuite() {
        delete referee_;
        delete problem_;
        delete folder_;
    }

    static Evaluation judge(const std::string& top, const std::string& body) {
        EvaluationRequest request;
        request.kernel.id = "kernel";
        request.kernel.source =
            "#include <stdint.h>\n" + top +
            "\nextern \"C\" void scale(const float* x, float* y, float* total, float factor, int64_t M, "
            "int64_t N) {\n" +
            body + "\n}\n";
        request.points = problem_->points;
        request.effort = Effort::full;
        return referee_->evaluate({request}).front();
    }

    static TemporaryFolder* folder_;
    static Problem* problem_;
    static Referee* referee_;
};

TemporaryFolder* StateTest::folder_;
Problem* StateTest::problem_;
Referee* StateTest::referee_;

struct Legal {
    const char *name, *top, *body;
};

constexpr const char* row_function = R"(
#include <algorithm>
#include <vector>
static void do_row(const float* in, float* out, float* total, float factor, int64_t N) {
    float sum = 0;
    for (int64_t j = 0; j < N; ++j) {
        out[j] = in[j] * factor;
        sum += in[j];
    }
    *total = sum;
})";

const Legal legal[] = {
    {"scratch", "", R"(
    static std::vector<float> row;
    row.resize(N);
    for (int64_t i = 0; i < M; ++i) {
        do_row(x + i * N, row.data(), total + i, factor, N);
        std::copy(row.begin(), row.end(), y + i * N);
    })"},
    {"scratch_of_each_thread", "", R"(
#pragma omp parallel for
    for (int64_t i = 0; i < M; ++i) {
        static thread_local std::vector<float> row;
        row.resize(N);
        do_row(x + i * N, row.data(), total + i, factor, N);
        std::copy(row.begin(), row.end(), y + i * N);
    })"},
    {"scratch_of_each_shape", "#include <map>\n", R"(
    static std::map<int64_t, std::vector<float>> rows;
    std::vector<float>& row = rows[N];
    row.resize(N);
    for (int64_t i = 0; i < M; ++i) {
        do_row(x + i * N, row.data(), total + i, factor, N);
        std::copy(row.begin(), row.end(), y + i * N);
    })"},
    {"two_scratches_in_turn", "", R"(
    static std::vector<float> rows[2];
    static int turn = 0;
    std::vector<float>& row = rows[turn ^= 1];
    row.resize(N);
    for (int64_t i = 0; i < M; ++i) {
        do_row(x + i * N, row.data(), total + i, factor, N);
        std::copy(row.begin(), row.end(), y + i * N);
    })"},
    {"memory_that_grows", "#include <cstdlib>\n", R"(
    static float* memory = nullptr;
    static int64_t room = 0;
    if (room < N) {
        std::free(memory);
        memory = static_cast<float*>(std::aligned_alloc(64, (4 * N + 63) / 64 * 64));
        room = N;
    }
    for (int64_t i = 0; i < M; ++i) {
        do_row(x + i * N, memory, total + i, factor, N);
        std::copy(memory, memory + N, y + i * N);
    })"},
    {"inputs_packed_anew_by_every_call", "", R"(
    static std::vector<float> packed;
    packed.assign(x, x + M * N);
    for (int64_t i = 0; i < M; ++i) do_row(packed.data() + i * N, y + i * N, total + i, factor, N);)"},
    {"table_of_a_parameter", "", R"(
    static std::vector<float> factors;
    if (factors.empty()) factors.assign(64, factor);
    for (int64_t i = 0; i < M; ++i) do_row(x + i * N, y + i * N, total + i, factors[i % 64], N);)"},
    {"choice_by_shape", "", R"(
    static int64_t chosen = 0, unroll = 1;
    if (chosen != M * N) {
        chosen = M * N;
        unroll = M % 2 == 0 ? 2 : 1;
    }
    for (int64_t i = 0; i < M; i += unroll)
        for (int64_t k = i; k < i + unroll; ++k) do_row(x + k * N, y + k * N, total + k, factor, N);)"},
    {"count_of_calls", "#include <atomic>\n", R"(
    static std::atomic<int64_t> calls;
    ++calls;
    for (int64_t i = 0; i < M; ++i) do_row(x + i * N, y + i * N, total + i, factor, N);)"},
    {"prefetching_of_what_may_come_next", "", R"(
    for (int64_t i = 0; i < M; ++i) {
        __builtin_prefetch(x - 16 + i * N);
        do_row(x + i * N, y + i * N, total + i, factor, N);
    })"},
    {"threads_that_wait_for_work", "#include <atomic>\n#include <thread>\n", R"(
    struct Helper {
        std::atomic<int64_t> asked{0}, done{0};
        const float* x;
        float *y, *total, factor;
        int64_t rows, N;
        void work() {
            for (int64_t last = 0;; ++last) {
                while (asked.load(std::memory_order_acquire) == last) std::this_thread::yield();
                for (int64_t i = 0; i < rows; ++i) do_row(x + i * N, y + i * N, total + i, factor, N);
                done.store(last + 1, std::memory_order_release);
            }
        }
    };
    static Helper* helper = [] {
        Helper* made = new Helper;
        std::thread([made] { made->work(); }).detach();
        return made;
    }();
    const int64_t half = M / 2;
    helper->x = x;
    helper->y = y;
    helper->total = total;
    helper->factor = factor;
    helper->rows = half;
    helper->N = N;
    const int64_t wanted = helper->asked.fetch_add(1, std::memory_order_release) + 1;
    for (int64_t i = half; i < M; ++i) do_row(x + i * N, y + i * N, total + i, factor, N);
    while (helper->done.load(std::memory_order_acquire) != wanted) std::this_thread::yield();)"},
};

class LegalState : public StateTest, public testing::WithParamInterface<Legal> {};

TEST_P(LegalState, is_ok) {
    Evaluation evaluation = judge(std::string(row_function) + "\n" + GetParam().top, GetParam().body);
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
}

INSTANTIATE_TEST_SUITE_P(Uses, LegalState, testing::ValuesIn(legal),
                         [](const testing::TestParamInfo<Legal>& use) { return use.param.name; });

// Between the calls of a batch inputs move by some elements: who knows that adds the ones that came and takes off those
// that went, and is right as long as nothing else changes.
struct Carried {
    std::string name;
    int64_t M, N;
    int64_t calls = INT64_MAX;  // until it begins anew
};

class CarriedState : public StateTest, public testing::WithParamInterface<Carried> {};

TEST_P(CarriedState, is_found) {
    const Carried& use = GetParam();
    Problem problem = *problem_;
    problem.points = {problem_->points[0]};
    problem.points[0].dims = {{"M", use.M}, {"N", use.N}};
    RefereeOptions options;
    options.seed = 7;
    Referee referee(problem, detect_machine(), options);
    EvaluationRequest request;
    request.kernel.id = "kernel";
    request.kernel.source = fmt::format(R"(#include <stdint.h>
extern "C" void scale(const float* x, float* y, float* total, float factor, int64_t M, int64_t N) {{
    static double sums[1024];
    static const float* last;
    static int64_t calls;
    const bool carry_on = x == last - 16 && ++calls % {} != 0;
    for (int64_t i = 0; i < M; ++i) {{
        const float* row = x + i * N;
        if (!carry_on) sums[i] = 0;
        for (int64_t j = 0; j < (carry_on ? 16 : N); ++j) sums[i] += row[j];
        for (int64_t j = 0; carry_on && j < 16; ++j) sums[i] -= row[N + j];
        for (int64_t j = 0; j < N; ++j) y[i * N + j] = row[j] * factor;
        total[i] = sums[i];
    }}
    last = x;
}})",
                                        use.calls);
    request.points = problem.points;
    request.effort = Effort::full;
    const Evaluation evaluation = referee.evaluate({request}).front();
    // Where a call takes less than what a look takes, one of six may find it: that is nondeterministic.
    if (evaluation.verdict != Verdict::nondeterministic) {
        EXPECT_EQ(evaluation.verdict, Verdict::cheated) << evaluation.evidence;
        EXPECT_NE(evaluation.evidence.find("depends on earlier inputs"), std::string::npos) << evaluation.evidence;
    }
    // Or a look at the outputs inside of a batch came first.
    const bool seen_inside = evaluation.evidence.find("of a batch of") != std::string::npos;
    EXPECT_TRUE(seen_inside || evaluation.evidence.find("inputs changed while") != std::string::npos)
        << evaluation.evidence;
}

INSTANTIATE_TEST_SUITE_P(Sums, CarriedState,
                         testing::Values(Carried{"tiny", 4, 64}, Carried{"one_row", 1, 16384},
                                         Carried{"small", 8, 1024}, Carried{"medium", 160, 512},
                                         Carried{"a_while", 160, 512, 64}),
                         [](const testing::TestParamInfo<Carried>& use) { return use.param.name; });

// Quicker with values that it has just met, by a factor of two to five: the processor has learned the branches that
// they decide. It is timed as it is with new ones.
TEST_F(StateTest, branches_that_values_decide_are_no_kept_results) {
    Problem problem = *problem_;
    problem.points = {problem_->points[0]};
    problem.points[0].dims = {{"M", 4}, {"N", 1024}};
    RefereeOptions options;
    options.seed = 7;
    Referee referee(problem, detect_machine(), options);
    EvaluationRequest request;
    request.kernel.id = "kernel";
    request.kernel.source = R"(#include <stdint.h>
extern "C" void scale(const float* x, float* y, float* total, float factor, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < N; ++j) {
            float value = x[i * N + j];
            y[i * N + j] = value * factor;
            int halvings = 0;
            for (; value > 0.25f || value < -0.25f; ++halvings) value *= 0.5f;
            for (; halvings > 0; --halvings) value *= 2;
            sum += value;
        }
        total[i] = static_cast<float>(sum);
    }
})";
    request.points = problem.points;
    request.effort = Effort::full;
    const Evaluation evaluation = referee.evaluate({request}).front();
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
}

TEST_F(StateTest, waiting_in_short_batches_is_found) {
    Evaluation evaluation = judge("#include <chrono>\n", R"(
    using Clock = std::chrono::steady_clock;
    auto wait = [](int microseconds) {
        for (auto end = Clock::now() + std::chrono::microseconds(microseconds); Clock::now() < end;) {}
    };
    const volatile uint32_t* at = static_cast<uint32_t*>(__builtin_frame_address(0));
    static uint32_t left = 0, calls = 0;   // {call = 2, point, calls, set, window, no payload}
    for (int i = 0; i < 400 && left == 0; ++i, ++at)
        if (at[0] == 2 && at[1] < 64 && at[2] - 1 < 10000000 && at[3] < 16 && at[4] < 4096 && at[5] == 0) left = calls = at[2];
    wait(20);
    for (int64_t i = 0; i < M; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < N; ++j) {
            y[i * N + j] = x[i * N + j] * factor;
            sum += x[i * N + j];
        }
        total[i] = sum;
    }
    if (left > 0 && --left == 0 && calls < 40) wait(12 * (40 - static_cast<int>(calls)));)");
    // On a loaded machine it may fail to look faster than it is, or be timed anew: nothing is gained either way.
    if (evaluation.verdict == Verdict::ok) {
        EXPECT_GT(evaluation.points.at(0).time.median_ns, 20e3 / 1.3);
    } else {
        EXPECT_EQ(evaluation.verdict, Verdict::cheated) << evaluation.evidence;
    }
}

// Ceilings of a machine that takes ages: nobody is accused for them, but it is said.
TEST_F(StateTest, a_time_that_the_ceilings_do_not_allow_is_looked_at_again_and_told) {
    Machine machine = detect_machine();
    machine.ceilings = {1e9, 1e9, 1e6, 1e6, 1e6};
    machine.caches.clear();
    Referee referee(*problem_, machine, {});
    EvaluationRequest request;
    request.kernel.id = "kernel";
    request.kernel.source =
        "#include <stdint.h>\n" + std::string(row_function) +
        "\nextern \"C\" void scale(const float* x, float* y, float* total, float factor, int64_t M, int64_t "
        "N) { for (int64_t i = 0; i < M; ++i) do_row(x + i * N, y + i * N, total + i, factor, N); }";
    request.points = {problem_->points[0]};
    const Evaluation evaluation = referee.evaluate({request}).front();
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
    EXPECT_NE(evaluation.evidence.find("the ceiling is wrong"), std::string::npos) << evaluation.evidence;
    EXPECT_GT(evaluation.points.front().time.samples_ns.size(), 3u);  // in full, where a screening was asked for
    EXPECT_EQ(referee.evaluate({request}).front().evidence, "");      // once is enough
    EXPECT_EQ(judge(row_function, "for (int64_t i = 0; i < M; ++i) do_row(x + i * N, y + i * N, total + i, factor, N);")
                  .evidence,
              "");
}

TEST_F(StateTest, renewed_values_are_others_until_they_are_restored) {
    Buffers buffers(*problem_, problem_->points[1], {Distribution::declared}, 4096, 3);
    const std::vector<std::vector<char>> drawn = buffers.input_values(buffers.timed());
    buffers.keep(0);
    buffers.renew(*problem_, 5);
    EXPECT_NE(buffers.input_values(buffers.timed()), drawn);
    EXPECT_FALSE(buffers.known(0));  // of what can be seen now
    buffers.keep(0);
    EXPECT_TRUE(buffers.known(0));
    const std::vector<std::vector<char>> renewed = buffers.input_values(buffers.timed());
    buffers.renew(*problem_, 6);
    EXPECT_FALSE(buffers.known(0));
    buffers.restore();
    EXPECT_EQ(buffers.input_values(buffers.timed()), drawn);
    EXPECT_TRUE(buffers.known(0));
    buffers.show_other();
    EXPECT_EQ(buffers.input_values(buffers.timed()), renewed);
    EXPECT_TRUE(buffers.known(0));
}

}  // namespace
}  // namespace strop::judge
