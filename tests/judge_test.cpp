// The referee against kernels that are right, wrong and hostile. Slow cases (endless loops) have their own script.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>

#include <sys/mman.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "core/json.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "judge/worker.h"
#include "judge_referee_fixture.h"
#include "language/contract.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

TEST_F(RefereeTest, a_right_kernel_is_ok_and_timed_at_every_point) {
    Evaluation evaluation = judge(kernel_source(right_body));
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
    ASSERT_EQ(evaluation.points.size(), 2u);
    for (const PointResult& point : evaluation.points) {
        EXPECT_GE(point.time.samples_ns.size(), 3u);
        EXPECT_GT(point.time.median_ns, 0);
    }
}

// Late values reach the kernel, and configurations that differ in nothing else share a library.
TEST_F(RefereeTest, late_values_are_set_before_the_first_call) {
    std::string source =
        "// strop:late RIGHT = 1 | 0 | -5\n// strop:late BIG = 1099511627776 | 7\n// strop:tune ADD = 0 | 1\n" +
        kernel_source(std::string(right_body) +
                      "\n    if (RIGHT != 1 || BIG != int64_t{1} << 40) total[0] += 1;"
                      "\n    total[0] += ADD;");
    std::vector<EvaluationRequest> requests(5);
    const char* configurations[][3] = {{"1", "1099511627776", "0"},
                                       {"0", "1099511627776", "0"},
                                       {"1", "7", "0"},
                                       {"1", "1099511627776", "1"},
                                       {"-5", "1099511627776", "0"}};
    for (size_t i = 0; i < requests.size(); ++i) {
        requests[i].kernel.id = "kernel";
        requests[i].kernel.source = source;
        requests[i].kernel.space = parse_tunables(source, "kernel.cpp");
        requests[i].configuration = {{"RIGHT", int64_t{std::stoll(configurations[i][0])}},
                                     {"BIG", int64_t{std::stoll(configurations[i][1])}},
                                     {"ADD", int64_t{std::stoll(configurations[i][2])}}};
        requests[i].points = {problem_->points[0]};
    }
    std::vector<Evaluation> evaluations = referee_->evaluate(requests);
    EXPECT_EQ(evaluations[0].verdict, Verdict::ok) << evaluations[0].evidence;
    for (size_t i = 1; i < evaluations.size(); ++i) EXPECT_EQ(evaluations[i].verdict, Verdict::wrong_output) << i;
    EXPECT_GT(evaluations[0].compile_seconds, 0);
    EXPECT_GT(evaluations[3].compile_seconds, 0);
    for (size_t i : {1, 2, 4}) EXPECT_EQ(evaluations[i].compile_seconds, 0) << i;
}

TEST_F(RefereeTest, windows_have_other_values_and_turning_changes_them_all) {
    Buffers buffers(*problem_, {"", {{"M", 3}, {"N", 7}}}, {Distribution::declared, Distribution::sparse}, 50, 11);
    ASSERT_TRUE(buffers.can_turn());
    auto first_values = [&] {
        std::vector<float> firsts;
        for (int64_t window = 0; window < buffers.windows(); ++window)
            firsts.push_back(*reinterpret_cast<float*>(buffers.input(buffers.seen(window, 0), 0)));
        return firsts;
    };
    std::vector<float> before = first_values();
    EXPECT_EQ(std::set<float>(before.begin(), before.end()).size(), 50u);
    float of_a_check = *reinterpret_cast<float*>(buffers.input(buffers.sets()[0], 0));
    (void)buffers.keep(0);
    (void)buffers.keep(17);
    ASSERT_TRUE(buffers.known(0) && buffers.known(17));
    buffers.turn(*problem_, 5);
    EXPECT_FALSE(buffers.known(0) || buffers.known(17));
    std::set<float> known(before.begin(), before.end());
    for (float value : first_values()) EXPECT_EQ(known.count(value), 0u);
    EXPECT_EQ(*reinterpret_cast<float*>(buffers.input(buffers.sets()[0], 0)), of_a_check);
    EXPECT_GT(buffers.slots(), 1);
    EXPECT_NE(buffers.output(buffers.seen(0, 0), 0), buffers.output(buffers.seen(0, 1), 0));
    EXPECT_EQ(buffers.output(buffers.seen(0, 0), 0), buffers.output(buffers.seen(0, buffers.slots()), 0));
}

// The same content comes again, and what the reference said of it is there: of window 0, of one other, and of renewed
// values at window 0.
TEST_F(RefereeTest, usual_turns_are_remembered) {
    Buffers buffers(*problem_, {"", {{"M", 3}, {"N", 7}}}, {Distribution::declared, Distribution::sparse}, 50, 11);
    ASSERT_GT(buffers.usual_turns(), 16u);
    auto content = [&](int64_t window) {
        const InputSet set = buffers.seen(window, 0);
        const char* at = buffers.input(set, 0);
        return std::vector<char>(at, at + set.inputs[0].data_bytes);
    };
    auto keep = [&](int64_t window, double value) {
        InputSet& set = buffers.keep(window);
        *buffers.expected(set, 0) = value;
        buffers.remember(set);
    };
    auto remembered = [&](int64_t window) {
        const InputSet* set = buffers.known(window);
        return set ? *buffers.expected(*set, 0) : -1;
    };
    buffers.turn(*problem_, 1);
    size_t usual = 0;
    do buffers.turn_to(*problem_, usual++);
    while (!buffers.usual_window());
    const int64_t window = *buffers.usual_window();
    EXPECT_GE(window, 25);
    EXPECT_FALSE(buffers.known(0) || buffers.known(window));
    const std::vector<char> first = content(0), other = content(window);
    keep(0, 3);
    keep(window, 4);
    keep(7, 5);
    buffers.renew(*problem_, *buffers.usual_renewal());
    EXPECT_FALSE(buffers.known(0));
    const std::vector<char> renewed = content(0);
    keep(0, 6);
    buffers.renew(*problem_, 99);
    EXPECT_FALSE(buffers.known(0));
    int others = 0;
    do {
        buffers.turn(*problem_, 5 + others++);
        EXPECT_FALSE(buffers.known(0) || buffers.known(window) || buffers.usual_window());
        buffers.turn_to(*problem_, usual - 1);
    } while (!buffers.usual_window());  // by whole strides it would have been another place
    EXPECT_EQ(content(0), first);
    EXPECT_EQ(content(window), other);
    EXPECT_EQ(remembered(0), 3);
    EXPECT_EQ(remembered(window), 4);
    EXPECT_FALSE(buffers.known(7));
    buffers.renew(*problem_, *buffers.usual_renewal());
    EXPECT_EQ(content(0), renewed);
    EXPECT_EQ(remembered(0), 6);
    buffers.refill(*problem_, 12);
    buffers.turn_to(*problem_, usual - 1);
    EXPECT_FALSE(buffers.known(0) || buffers.known(window));
}

TEST(SharedMemory, its_second_descriptor_cannot_be_written_and_it_grows_with_its_contents) {
    for (SharedMemory::Pages pages : {SharedMemory::Pages::small, SharedMemory::Pages::huge}) {
        SharedMemory memory(5 << 20, pages);
        memory.data()[(5 << 20) - 1] = 'x';
        size_t size = static_cast<size_t>(memory.bytes());
        EXPECT_EQ(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.read_only_fd(), 0), MAP_FAILED);
        memory.grow(9 << 20);
        void* seen = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, memory.read_only_fd(), 0);
        ASSERT_NE(seen, MAP_FAILED);
        EXPECT_EQ(static_cast<char*>(seen)[(5 << 20) - 1], 'x');
        EXPECT_EQ(memory.data()[(5 << 20) - 1], 'x');
        EXPECT_GE(memory.bytes(), 9 << 20);
        ::munmap(seen, size);
    }
}

TEST_F(RefereeTest, an_exception_is_no_access_outside) {
    const Evaluation evaluation = judge(kernel_source("throw 1;"));
    EXPECT_EQ(evaluation.verdict, Verdict::crashed);
    EXPECT_EQ(evaluation.evidence.find("an exception left the function"), 0u) << evaluation.evidence;
}

TEST_F(RefereeTest, wrong_outputs_name_the_first_wrong_element) {
    std::string body = std::string(right_body) + "\n    y[(M - 1) * N + 2] += 1;";
    Evaluation evaluation = judge(kernel_source(body));
    EXPECT_EQ(evaluation.verdict, Verdict::wrong_output);
    EXPECT_NE(evaluation.evidence.find("y[7, 2]"), std::string::npos) << evaluation.evidence;
}

TEST_F(RefereeTest, an_output_that_is_not_written_is_wrong) {
    EXPECT_EQ(judge(kernel_source("(void)x; (void)y; (void)total;")).verdict, Verdict::wrong_output);
    std::string half = "for (int64_t i = 0; i < M * N; ++i) y[i] = x[i] * factor; (void)total;";
    EXPECT_EQ(judge(kernel_source(half)).verdict, Verdict::wrong_output);
}

TEST_F(RefereeTest, half_precision_inside_is_wrong) {
    std::string body = R"(
    for (int64_t i = 0; i < M; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < N; ++j) {
            y[i * N + j] = (float)((_Float16)x[i * N + j] * (_Float16)factor);
            sum += x[i * N + j];
        }
        total[i] = sum;
    })";
    EXPECT_EQ(judge(kernel_source(body)).verdict, Verdict::wrong_output);
}

TEST_F(RefereeTest, the_largest_error_is_told_as_a_share_of_what_is_allowed) {
    const auto share = [](const Evaluation& evaluation) {
        EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
        return evaluation.points.at(1).error_share;
    };
    const double plain = share(judge(kernel_source(right_body)));
    EXPECT_GT(plain, 0);
    EXPECT_LT(plain, 0.5);
    EXPECT_EQ(share(judge(kernel_source(right_body), Effort::screen)), 0) << "not every element was compared";
    const double off = share(judge(kernel_source(std::string(right_body) + "total[0] *= 1 + 2e-6f;")));
    EXPECT_GT(off, plain);
    EXPECT_LE(off, 1);
}

TEST_F(RefereeTest, a_screening_times_a_long_call_once) {
    const auto samples = [&](const std::string& before) {
        const Evaluation evaluation = judge(kernel_source(before + right_body, "#include <time.h>\n"), Effort::screen);
        EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
        return evaluation.points.front().time.samples_ns.size();
    };
    EXPECT_EQ(samples("timespec rest = {0, 150'000'000};\n    nanosleep(&rest, nullptr);\n"), 1u);
    EXPECT_EQ(samples(""), 3u);
}

TEST_F(RefereeTest, another_legal_order_of_summation_is_right) {
    std::string body = R"(
    for (int64_t i = 0; i < M; ++i) {
        float sum = 0, other = 0;
        for (int64_t j = N - 1; j >= 0; --j) {
            y[i * N + j] = factor * x[i * N + j];
            (j % 2 ? sum : other) += x[i * N + j];
        }
        total[i] = other + sum;
    })";
    Evaluation evaluation = judge(kernel_source(body));
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;
}

TEST_F(RefereeTest, writing_an_input_or_past_an_output_crashes) {
    EXPECT_EQ(judge(kernel_source("((float*)x)[0] = 1;")).verdict, Verdict::crashed);
    EXPECT_EQ(judge(kernel_source(std::string(right_body) + "\n    y[M * N] = 0;")).verdict, Verdict::crashed);
}

TEST_F(RefereeTest, reading_behind_an_input_crashes) {
    std::string body = std::string(right_body) + "\n    volatile float beyond = x[M * N]; (void)beyond;";
    EXPECT_EQ(judge(kernel_source(body)).verdict, Verdict::crashed);
}

TEST_F(RefereeTest, writing_before_an_output_is_seen) {
    Evaluation evaluation = judge(kernel_source(std::string(right_body) + "\n    total[-1] = 0;"));
    EXPECT_EQ(evaluation.verdict, Verdict::wrong_output);
    EXPECT_NE(evaluation.evidence.find("before the beginning"), std::string::npos) << evaluation.evidence;
}

TEST_F(RefereeTest, leaving_early_is_a_crash) {
    Evaluation evaluation = judge(kernel_source("_exit(0);", "#include <unistd.h>\n"));
    EXPECT_EQ(evaluation.verdict, Verdict::crashed);
    EXPECT_NE(evaluation.evidence.find("left during a call"), std::string::npos);
}

TEST_F(RefereeTest, right_once_and_wrong_later_is_found) {
    std::string body = std::string(right_body) + "\n    static int calls = 0;\n    if (++calls > 2) total[0] += 1;";
    Verdict verdict = judge(kernel_source(body)).verdict;
    EXPECT_TRUE(verdict == Verdict::nondeterministic || verdict == Verdict::wrong_output);
}

TEST_F(RefereeTest, skipping_calls_is_found) {
    // Does nothing when the outputs look written already: right in every single call, absent from the timed ones.
    std::string lazy = "    if (y[M * N - 1] == y[M * N - 1]) return;" + std::string(right_body);
    EXPECT_NE(judge(kernel_source(lazy)).verdict, Verdict::ok);
    std::string every_other =
        "    static int calls = 0;\n    if (++calls > 8 && calls % 2) return;" + std::string(right_body);
    EXPECT_NE(judge(kernel_source(every_other)).verdict, Verdict::ok);
}

// Who knows how long a batch is, could do the last calls only.
TEST_F(RefereeTest, skipping_all_but_the_last_calls_is_found) {
    std::string body = R"(
    const volatile uint32_t* at = static_cast<uint32_t*>(__builtin_frame_address(0));
    uint32_t calls = 0, window = 0;   // {call = 2, point, calls, set, window, no payload}
    for (int i = 0; i < 400 && calls == 0; ++i, ++at)
        if (at[0] == 2 && at[1] < 64 && at[2] - 1 < 10000000 && at[3] < 16 && at[4] < 4096 && at[5] == 0) {
            calls = at[2];
            window = at[4];
        }
    static uint32_t seen = 0, known_calls = 0, known_window = 0;
    if (calls != known_calls || window != known_window) seen = 0;
    known_calls = calls;
    known_window = window;
    if (++seen + 80 < calls) return;
    if (seen >= calls) seen = 0;
    for (int i = 0; i < 20; ++i) {)" +
                       std::string(right_body) + "}";
    const std::string honest = "    for (int i = 0; i < 20; ++i) {" + std::string(right_body) + "}";
    // A look at a loaded machine may miss it; another one does not.
    for (int again = 0; again < 2; ++again) {
        const Evaluation evaluation = judge(kernel_source(body));
        // Whose calls wait for a core while the referee looks is not told from one whose threads race.
        if (evaluation.verdict == Verdict::nondeterministic) return;
        if (evaluation.verdict != Verdict::ok) {
            EXPECT_EQ(evaluation.verdict, Verdict::cheated) << evaluation.evidence;
            EXPECT_NE(evaluation.evidence.find("it skips calls"), std::string::npos) << evaluation.evidence;
            return;
        }
        // Where it does not find its batch's length it is honest, and so is its time.
        const double honest_ns = judge(kernel_source(honest)).points.at(0).time.median_ns;
        if (evaluation.points.at(0).time.median_ns > 0.5 * honest_ns) return;
    }
    ADD_FAILURE() << "it was missed twice";
}

TEST_F(RefereeTest, results_remembered_by_address_are_found) {
    std::string top = R"(#include <map>
#include <vector>
struct Kept { std::vector<float> y, total; };
static std::map<const float*, Kept> kept;)";
    std::string body = R"(
    Kept& known = kept[x];
    if (known.y.empty()) {)" +
                       std::string(right_body) + R"(
        known.y.assign(y, y + M * N);
        known.total.assign(total, total + M);
        return;
    }
    for (int64_t i = 0; i < M * N; ++i) y[i] = known.y[i];
    for (int64_t i = 0; i < M; ++i) total[i] = known.total[i];)";
    Evaluation evaluation = judge(kernel_source(body, top), Effort::screen);
    // Wrong in a look at a batch and in most of those that follow is cheated, wrong after a call nondeterministic.
    EXPECT_TRUE(evaluation.verdict == Verdict::nondeterministic || evaluation.verdict == Verdict::cheated)
        << evaluation.evidence;
}

TEST_F(RefereeTest, results_remembered_by_content_are_found) {
    std::string top = R"(#include <cmath>
#include <map>
#include <vector>
struct Kept { std::vector<float> y, total; };
static std::map<std::vector<float>, Kept> kept;)";
    std::string body = R"(
    Kept& known = kept[std::vector<float>(x, x + M * N)];
    if (known.y.empty()) {
        volatile float slow = 1;
        for (int i = 0; i < 1000000; ++i) slow = slow * 1.0001f;)" +
                       std::string(right_body) + R"(
        known.y.assign(y, y + M * N);
        known.total.assign(total, total + M);
        return;
    }
    for (int64_t i = 0; i < M * N; ++i) y[i] = known.y[i];
    for (int64_t i = 0; i < M; ++i) total[i] = known.total[i];)";
    Evaluation evaluation = judge(kernel_source(body, top));
    EXPECT_EQ(evaluation.verdict, Verdict::cheated) << evaluation.evidence;
    EXPECT_NE(evaluation.evidence.find("keeps results"), std::string::npos) << evaluation.evidence;
}

TEST_F(RefereeTest, writing_after_the_call_has_returned_is_found) {
    std::string top = "#include <thread>\n#include <chrono>\n";
    std::string body = R"(
    std::thread([=] {
        std::this_thread::sleep_for(std::chrono::microseconds(300));)" +
                       std::string(right_body) + R"(
    }).detach();)";
    Evaluation evaluation = judge(kernel_source(body, top), Effort::screen);
    EXPECT_TRUE(evaluation.verdict == Verdict::wrong_output || evaluation.verdict == Verdict::cheated)
        << evaluation.evidence;
}

TEST_F(RefereeTest, the_state_of_the_processor_is_left_as_it_was) {
    const std::vector<std::pair<std::string, std::string>> changes = {
        {"fesetround(FE_UPWARD);", "rounding"},
        {"feenableexcept(FE_DIVBYZERO);", "traps"},
        {"signal(SIGFPE, [](int) {});", "a handler for signal 8"}};
    for (const auto& [change, evidence] : changes) {
        Evaluation evaluation = judge(
            kernel_source(std::string(right_body) + "\n    " + change, "#include <fenv.h>\n#include <signal.h>\n"));
        EXPECT_EQ(evaluation.verdict, Verdict::cheated) << change;
        EXPECT_NE(evaluation.evidence.find(evidence), std::string::npos) << evaluation.evidence;
    }
}

TEST_F(RefereeTest, the_state_of_other_threads_is_left_as_it_was) {
    std::string top = "#include <immintrin.h>\n#include <omp.h>\n";
    std::string body =
        "\n#pragma omp parallel num_threads(2)\n"
        "    if (omp_get_thread_num() > 0) _mm_setcsr(_mm_getcsr() | 0x8040);\n" +
        std::string(right_body);
    Evaluation evaluation = judge(kernel_source(body, top));
    EXPECT_EQ(evaluation.verdict, Verdict::cheated) << evaluation.evidence;
    EXPECT_NE(evaluation.evidence.find("subnormal"), std::string::npos) << evaluation.evidence;
}

TEST_F(RefereeTest, threads_that_nobody_needs_are_cheating) {
    std::string body = std::string(right_body) +
                       "\n    for (int i = 0; i < 200; ++i) std::thread([] { for (;;) sleep(1); }).detach();";
    Verdict verdict = judge(kernel_source(body, "#include <unistd.h>\n#include <thread>\n"), Effort::full).verdict;
    EXPECT_TRUE(verdict == Verdict::cheated || verdict == Verdict::crashed) << name_of(verdict);
}

TEST_F(RefereeTest, a_kernel_starts_no_process_and_writes_no_file) {
    std::string top = "#include <fcntl.h>\n#include <sys/socket.h>\n#include <unistd.h>\n";
    std::string body = std::string(right_body) +
                       "\n    if (fork() >= 0 || open(\"/tmp/strop-written\", O_CREAT | O_WRONLY, 0600) >= 0 ||"
                       " socket(AF_INET, SOCK_STREAM, 0) >= 0) total[0] = 1e30f;";
    Evaluation evaluation = judge(kernel_source(body, top));
    EXPECT_EQ(evaluation.verdict, Verdict::ok) << evaluation.evidence;  // everything was refused
    EXPECT_FALSE(fs::exists("/tmp/strop-written"));
}

TEST_F(RefereeTest, endless_memory_is_over_the_limit_or_a_crash) {
    std::string body =
        "for (int64_t i = 0; i < 1000; ++i) { char* p = new char[1l << 28]; p[0] = 1; "
        "total[0] += (float)(int64_t)p; }";
    Verdict verdict = judge(kernel_source(body)).verdict;
    EXPECT_TRUE(verdict == Verdict::over_limit || verdict == Verdict::crashed);
}

TEST_F(RefereeTest, an_honest_kernel_is_judged_right_after_hostile_ones) {
    EXPECT_EQ(judge(kernel_source("__builtin_trap();")).verdict, Verdict::crashed);
    EXPECT_EQ(judge(kernel_source(right_body)).verdict, Verdict::ok);
}

TEST_F(RefereeTest, a_condition_that_holds_nowhere_is_unsupported) {
    EvaluationRequest request;
    request.kernel.source = kernel_source(right_body);
    request.kernel.condition = Expression::parse("M > 1000");
    request.points = problem_->points;
    EXPECT_EQ(referee_->evaluate({request}).front().verdict, Verdict::unsupported);
}

static_assert(!std::is_convertible_v<ProbeResult, Evaluation>, "a probe must never pass for a kernel that is right");

// It neither stores nor keeps what it computes: as a kernel it would be wrong, and too fast to be believed.
TEST_F(RefereeTest, a_probe_is_timed_whatever_it_computes) {
    auto request = [](const std::string& body) {
        EvaluationRequest probe;
        probe.kernel.source = kernel_source(body);
        probe.points = problem_->points;
        return probe;
    };
    const std::string idle = "(void)x; (void)y; (void)total;";
    const std::string ones =
        "for (int64_t i = 0; i < M * N; ++i) y[i] = 1; for (int64_t i = 0; i < M; ++i) total[i] = x[i];";
    std::vector<ProbeResult> results =
        referee_->probe({request(ones), request(idle), request("y[0] = nonsense;"), request("__builtin_trap();")});
    for (size_t i : {0, 1}) {
        EXPECT_EQ(results[i].verdict, Verdict::ok) << results[i].evidence;
        ASSERT_EQ(results[i].points.size(), 2u);
        for (const PointResult& at : results[i].points) EXPECT_GT(at.time.median_ns, 0);
        EXPECT_GT(results[i].time_seconds, 0);
    }
    EXPECT_EQ(results[2].verdict, Verdict::compile_failed);
    EXPECT_NE(results[2].evidence.find("nonsense"), std::string::npos);
    EXPECT_EQ(results[3].verdict, Verdict::crashed);
    // What it left in the outputs changes no verdict.
    EXPECT_EQ(judge(kernel_source(ones)).verdict, Verdict::wrong_output);
    EXPECT_EQ(judge(kernel_source(idle)).verdict, Verdict::wrong_output);
    EXPECT_EQ(referee_->probe({request(right_body)})[0].verdict, Verdict::ok);
    EXPECT_EQ(judge(kernel_source(idle)).verdict, Verdict::wrong_output);  // right values were left behind
    EXPECT_EQ(judge(kernel_source(right_body)).verdict, Verdict::ok);
}

TEST_F(RefereeTest, a_probe_that_is_far_slower_than_the_kernel_is_abandoned) {
    EvaluationRequest request;
    request.kernel.source = kernel_source(right_body);
    request.points = {problem_->points[0]};
    request.best_ns["small"] = 1e-3;
    EXPECT_TRUE(referee_->probe({request})[0].points.at(0).time.abandoned);
}

TEST_F(RefereeTest, of_long_calls_what_the_batch_has_measured_is_known) {
    std::vector<EvaluationRequest> batch(2);
    for (int i = 0; i < 2; ++i) {
        const std::string rest = std::string(i == 0 ? "{0, 120'000'000}" : "{0, 600'000'000}");
        batch[i].kernel.source = kernel_source(
            "timespec rest = " + rest + ";\n    nanosleep(&rest, nullptr);\n" + right_body, "#include <time.h>\n");
        batch[i].points = {problem_->points[0]};
    }
    EXPECT_FALSE(referee_->evaluate(batch)[1].points.at(0).time.abandoned) << "nobody asked for it";
    for (EvaluationRequest& request : batch) request.best_ns["small"] = std::numeric_limits<double>::infinity();
    const std::vector<Evaluation> evaluations = referee_->evaluate(batch);
    EXPECT_FALSE(evaluations[0].points.at(0).time.abandoned);
    EXPECT_TRUE(evaluations[1].points.at(0).time.abandoned);
}

TEST_F(RefereeTest, keys_depend_on_what_matters) {
    EvaluationRequest a;
    a.kernel.source = kernel_source(right_body);
    a.points = problem_->points;
    EvaluationRequest b = a;
    EXPECT_EQ(referee_->key(a), referee_->key(b));
    b.best_ns["small"] = 1;
    EXPECT_EQ(referee_->key(a), referee_->key(b));
    b.configuration["UNROLL"] = int64_t{2};
    EXPECT_NE(referee_->key(a), referee_->key(b));
    b = a;
    b.effort = Effort::full;
    EXPECT_NE(referee_->key(a), referee_->key(b));
}

TEST_F(RefereeTest, compares_a_kernel_with_the_reference_at_labelled_and_unseen_shapes) {
    ComparisonRequest request;
    Kernel kernel;
    kernel.source = kernel_source(right_body);
    request.contenders = {{"ours", "", kernel, {}}, {"numpy", "numpy", {}, {}}};
    request.points = problem_->points;
    request.points.push_back({"", {{"M", 3}, {"N", 1}}});
    request.seconds_per_point = 0.05;
    Comparison comparison = referee_->compare(request);
    ASSERT_EQ(comparison.points.size(), 3u);
    for (size_t p = 0; p < 3; ++p) EXPECT_EQ(comparison.points[p].results[0].verdict, Verdict::ok);
    EXPECT_EQ(comparison.points[0].results[1].verdict, Verdict::ok) << comparison.points[0].results[1].evidence;
    EXPECT_GT(comparison.points[0].results[1].speedup.ratio, 0);
    EXPECT_GT(comparison.points[0].results[1].overhead_ns, 0);  // a call from Python costs something
    EXPECT_EQ(comparison.points[2].results[1].verdict, Verdict::unsupported);
}

// The overhead of a call is measured at the smallest shape, which may be among the unseen ones.
TEST_F(RefereeTest, baselines_keep_their_smallest_shape) {
    Kernel kernel;
    kernel.source = kernel_source(right_body);
    ComparisonRequest unseen;
    unseen.contenders = {{"ours", "", kernel, {}}};
    unseen.points = {{"", {{"M", 1}, {"N", 1}}}};
    unseen.seconds_per_point = 0.02;
    EXPECT_EQ(referee_->compare(unseen).points[0].results[0].verdict, Verdict::ok);
    referee_->reseed(11);
    ComparisonRequest request = unseen;
    request.contenders = {{"numpy", "numpy", {}, {}}};
    request.points = {problem_->points[0]};
    const ContenderResult numpy = referee_->compare(request).points[0].results[0];
    EXPECT_EQ(numpy.verdict, Verdict::ok);
    EXPECT_GT(numpy.overhead_ns, 0);
}

// A call at the smallest shape of this range is work, as that of a layer with its weights is: no more is left out than
// a call may cost.
TEST_F(RefereeTest, no_work_of_a_baseline_is_left_out) {
    Problem large = *problem_;
    for (auto& [name, range] : large.range) range = {1024, 2048};
    large.points = {{"", {{"M", 1024}, {"N", 2048}}}};
    RefereeOptions options;
    options.seed = 7;
    Referee referee(large, detect_machine(), options);
    ComparisonRequest request;
    Kernel kernel;
    kernel.source = kernel_source(right_body);
    request.contenders = {{"ours", "", kernel, {}}, {"numpy", "numpy", {}, {}}};
    request.points = large.points;
    request.seconds_per_point = 0.05;
    const Comparison comparison = referee.compare(request);
    EXPECT_EQ(comparison.points[0].results[1].verdict, Verdict::ok) << comparison.points[0].results[1].evidence;
    EXPECT_EQ(comparison.points[0].results[1].overhead_ns, 10e3 + 1e3 * static_cast<double>(large.inputs.size()));
}

TEST_F(RefereeTest, vectors_hold_the_right_answer) {
    TestVector vector = referee_->test_vector({"", {{"M", 2}, {"N", 3}}});
    ASSERT_EQ(vector.inputs.at(0).size(), 6u);
    ASSERT_EQ(vector.expected.at(1).size(), 2u);
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(vector.expected[0][i], vector.inputs[0][i] * 2.5, 1e-6);
}

TEST(Worker, answers_in_lines_and_survives_nonsense) {
    std::istringstream in("nonsense\n{\"op\": \"evaluate\", \"requests\": []}\n{\"op\": 3}\n");
    std::ostringstream out;
    serve_worker(in, out);
    std::istringstream lines(out.str());
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
        ++count;
        EXPECT_TRUE(Json::parse(line).contains("error")) << line;
    }
    EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace strop::judge
