// Where the threads of a process are, what they are counted to do, and a kernel's profile from both.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "device/machine.h"
#include "judge/counters.h"
#include "judge/referee.h"
#include "judge/sightings.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

using namespace std::chrono_literals;

// A child of this test that does the same until it is ended.
class Child {
public:
    template <class Work>
    explicit Child(Work work) : pid_(::fork()) {
        if (pid_ != 0) return;
        for (;;) work();
    }
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_;
};

void count() {
    static volatile int counter = 0;
    counter = counter + 1;
}

bool never() { return false; }

// A child that has just been forked may still wait for its first core.
bool sleeps(pid_t pid) { return read_file(fmt::format("/proc/{}/status", pid)).find("State:\tS") != std::string::npos; }

double waiting_share(const std::vector<Sighting>& sightings) {
    const auto waiting =
        std::count_if(sightings.begin(), sightings.end(), [](const Sighting& one) { return one.waiting; });
    return static_cast<double>(waiting) / static_cast<double>(sightings.size());
}

TEST(Sightings, a_thread_that_works_is_seen_where_it_works) {
    Child child(count);
    const std::vector<Sighting> sightings = watch_threads(child.pid(), {child.pid()}, 40, 100us, never);
    ASSERT_EQ(sightings.size(), 40u);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").filename();
    const auto here = std::count_if(sightings.begin(), sightings.end(), [&](const Sighting& one) {
        return one.library == program && one.address < std::filesystem::file_size("/proc/self/exe") * 2;
    });
    EXPECT_GT(here, 20);
    EXPECT_LT(waiting_share(sightings), 0.5);
}

TEST(Sightings, a_thread_that_sleeps_waits) {
    Child child([] { ::pause(); });
    while (!sleeps(child.pid())) std::this_thread::sleep_for(1ms);
    const std::vector<Sighting> sightings = watch_threads(child.pid(), {child.pid()}, 20, 100us, never);
    ASSERT_EQ(sightings.size(), 20u);
    EXPECT_GT(waiting_share(sightings), 0.9);
}

// As OpenMP's threads do before they sleep.
TEST(Sightings, a_thread_that_yields_waits) {
    Child child([] { ::sched_yield(); });
    const std::vector<Sighting> sightings = watch_threads(child.pid(), {child.pid()}, 40, 100us, never);
    ASSERT_EQ(sightings.size(), 40u);
    EXPECT_GT(waiting_share(sightings), 0.5);
}

TEST(Sightings, the_child_goes_on_and_can_be_waited_for) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        for (int i = 0; i < 300; ++i) ::usleep(1000);
        ::_exit(::write(pipe[1], "x", 1) == 1 ? 7 : 1);
    }
    const std::vector<Sighting> sightings = watch_threads(child, {child}, 1 << 20, 1ms, never);  // until it ends
    EXPECT_GT(sightings.size(), 10u);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(Sightings, end_when_they_are_told_to) {
    Child child(count);
    int asked = 0;
    EXPECT_LE(watch_threads(child.pid(), {child.pid()}, 1000, 10us, [&] { return ++asked > 5; }).size(), 5u);
    EXPECT_TRUE(watch_threads(1 << 22, {1 << 22}, 10, 10us, never).empty());  // nobody is there
}

// Hardware counters are missing where this is tested, mostly; the system's own ones go the same way.
TEST(Counters, count_what_a_thread_does) {
    const std::vector<CounterKind> kinds = {{"task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
                                            {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}};
    const pid_t self = static_cast<pid_t>(::syscall(SYS_gettid));
    std::string why_none;
    Counters counters({self}, kinds, why_none);
    if (!why_none.empty()) GTEST_SKIP() << why_none;
    counters.start();
    std::vector<char> touched(1 << 24, 1);
    for (int i = 0; i < 1'000'000; ++i) count();
    const std::map<std::string, double> events = counters.stop();
    EXPECT_GT(events.at("task_clock"), 1e5);  // nanoseconds
    EXPECT_GT(events.at("page_faults"), 0);
    EXPECT_EQ(touched.back(), 1);
}

TEST(Counters, that_nobody_offers_say_why) {
    std::string why_none;
    Counters counters({static_cast<pid_t>(::syscall(SYS_gettid))}, {{"nothing", 12345, 0}}, why_none);
    EXPECT_NE(why_none.find("no hardware counters"), std::string::npos) << why_none;
    counters.start();
    EXPECT_TRUE(counters.stop().empty());
}

constexpr const char* summing = R"(#include <stdint.h>

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i) {
        float part[16] = {};
        int64_t j = 0;
        for (; j + 16 <= N; j += 16)
            for (int k = 0; k < 16; ++k) part[k] += x[i * N + j + k];
        float sum = 0;
        for (int k = 0; k < 16; ++k) sum += part[k];
        for (; j < N; ++j) sum += x[i * N + j];
        y[i] = sum;
    }
}
)";

Profile profile_of(const std::string& source) {
    Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    keep_points(problem, {"medium"});
    RefereeOptions options;
    options.seed = 3;
    Referee referee(problem, detect_machine(), options);
    EvaluationRequest request;
    request.kernel.id = "kernel";
    request.kernel.source = source;
    request.points = problem.points;
    return referee.profile(request);
}

TEST(RefereeProfile, a_right_kernel_is_seen_in_its_loop) {
    const Profile profile = profile_of(summing);
    ASSERT_EQ(profile.verdict, Verdict::ok) << profile.evidence;
    ASSERT_EQ(profile.points.size(), 1u);
    const PointProfile& point = profile.points[0];
    EXPECT_GT(point.time.median_ns, 0);
    EXPECT_GT(point.one_core.median_ns, 0);
    EXPECT_EQ(point.threads, 1);
    ASSERT_GT(point.samples, 50);
    EXPECT_GT(point.places.at("kernel"), 0.5);
    double sum = 0;
    for (const auto& [place, share] : point.places) sum += share;
    EXPECT_NEAR(sum, 1, 1e-9);
    for (const std::string& what : profile.missing)
        if (what.find("llvm-objdump") != std::string::npos) GTEST_SKIP() << what;
    ASSERT_FALSE(point.loops.empty());
    const HotLoop& loop = point.loops.front();
    EXPECT_NE(loop.function.find("row_sum"), std::string::npos) << loop.function;
    EXPECT_GE(loop.line, 4) << loop.listing;
    EXPECT_LE(loop.last_line, 13) << loop.listing;
    EXPECT_FALSE(loop.mix.packed.empty()) << loop.listing;
    EXPECT_GT(loop.share, 0.3);
    EXPECT_LE(loop.share, 1);
}

TEST(RefereeProfile, a_wrong_kernel_has_a_verdict_and_no_profile) {
    std::string wrong = summing;
    wrong.replace(wrong.find("y[i] = sum"), 10, "y[i] = 0.5");
    const Profile profile = profile_of(wrong);
    EXPECT_EQ(profile.verdict, Verdict::wrong_output);
    EXPECT_FALSE(profile.evidence.empty());
    EXPECT_TRUE(profile.points.empty());
}

}  // namespace
}  // namespace strop::judge
