// Contenders of one thread take turns on one core, on which the referee waits for them.
#include <sched.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "judge/cores.h"
#include "judge/runner.h"
#include "judge_referee_fixture.h"

namespace strop::judge {
namespace {

cpu_set_t cores_of(pid_t thread) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    ::sched_getaffinity(thread, sizeof cores, &cores);
    return cores;
}

bool equal(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

int last_of(const cpu_set_t& cores) {
    int last = -1;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(static_cast<size_t>(core), &cores)) last = core;
    return last;
}

TEST(OtherCore, IsNotThatOfTheProcessAndIsLeftAgain) {
    const cpu_set_t before = cores_of(0);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one core";
    {
        const OtherCore other(::getpid());  // this thread's own
        const cpu_set_t meanwhile = cores_of(0);
        EXPECT_EQ(CPU_COUNT(&meanwhile), CPU_COUNT(&before) - 1);
        EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(::sched_getcpu()), &meanwhile));
    }
    EXPECT_TRUE(equal(cores_of(0), before));
}

TEST_F(RefereeTest, AProcessAndWhoAsksItHaveOneCoreUntilTheyAreReleased) {
    const cpu_set_t before = cores_of(0);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one core";
    Expectation expectation(*problem_, 1, Seconds(60));
    std::unique_ptr<Runner> runner = Runner::idle(*problem_, {&expectation.at(problem_->points.front())});
    ASSERT_TRUE(runner->prepare(0, Seconds(60)).ok());
    EXPECT_TRUE(runner->works_alone());
    const cpu_set_t of_process = cores_of(runner->pid());
    const int core = last_of(of_process);
    EXPECT_FALSE(only_core_of(runner->pid()));
    for (const bool shares : {false, true}) {
        const OneCore one(*runner, core, shares);
        EXPECT_EQ(only_core_of(runner->pid()), core);
        EXPECT_EQ(only_core_of(::getpid()) == core, shares);
        ASSERT_TRUE(runner->call(0, 0, 0, 0, Seconds(60)).ok());
        EXPECT_EQ(core_of(runner->pid()), core);
        {
            const OtherCore apart(runner->pid());
            const cpu_set_t others = cores_of(0);
            EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&before) - 1);
            EXPECT_FALSE(CPU_ISSET(static_cast<size_t>(core), &others));
        }
        EXPECT_EQ(only_core_of(::getpid()) == core, shares);
    }
    EXPECT_TRUE(equal(cores_of(runner->pid()), of_process));
    EXPECT_TRUE(equal(cores_of(0), before));
}

// Each of them ends its process where it is timed on one core.
struct Called {
    const char *name, *top, *before_work;
    bool has_one_core;
};

constexpr const char* leaves_one_core = R"(
#include <sched.h>
#include <stdlib.h>
#include <thread>
static void leave_one_core() {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) == 1) abort();
}
)";

const Called called[] = {
    {"by_itself", "", "leave_one_core();", true},
    {"with_a_thread_for_each_call", "",
     "std::thread([] { volatile int i = 0; while (i < 1000) i = i + 1; }).join(); leave_one_core();", false},
    {"with_a_thread_that_stays", "#include <unistd.h>\nstatic std::thread* other;",
     "if (!other) other = new std::thread([] { pause(); }); leave_one_core();", false},
};

class Contenders : public RefereeTest, public testing::WithParamInterface<Called> {};

TEST_P(Contenders, OfOneThreadAndNoOthersAreTimedOnOneCore) {
    const cpu_set_t cores = cores_of(0);
    if (CPU_COUNT(&cores) < 2) GTEST_SKIP() << "there is one core";
    Kernel right, watching;
    right.id = "right";
    right.source = kernel_source(right_body);
    watching.id = "watching";
    watching.source =
        kernel_source(GetParam().before_work + std::string(right_body), std::string(leaves_one_core) + GetParam().top);
    ComparisonRequest request;
    request.contenders = {{"right", "", right, {}}, {"watching", "", watching, {}}};
    request.points = {problem_->points.front()};
    request.seconds_per_point = 0.2;
    const Comparison comparison = referee_->compare(request);
    const std::vector<ContenderResult>& results = comparison.points.front().results;
    EXPECT_EQ(results[0].verdict, Verdict::ok) << results[0].evidence;
    EXPECT_EQ(results[1].verdict, GetParam().has_one_core ? Verdict::crashed : Verdict::ok) << results[1].evidence;
}

INSTANTIATE_TEST_SUITE_P(Called, Contenders, testing::ValuesIn(called),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace strop::judge
