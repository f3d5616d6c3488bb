#include "judge/neighbours.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "judge/runner.h"

namespace strop::judge {
namespace {

// Two busy threads on each core, of which each gets a half at most.
class Crowd {
public:
    Crowd() {
        cpu_set_t allowed;
        ::sched_getaffinity(0, sizeof allowed, &allowed);
        for (int core = 0; core < CPU_SETSIZE; ++core)
            for (int i = 0; i < 2 && CPU_ISSET(core, &allowed); ++i)
                threads_.emplace_back([this, core] { spin(core); });
    }
    ~Crowd() {
        over_ = true;
        for (std::thread& thread : threads_) thread.join();
    }

private:
    void spin(int core) const {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(core, &only);
        ::sched_setaffinity(0, sizeof only, &only);
        while (!over_) {
        }
    }
    std::atomic<bool> over_{false};
    std::vector<std::thread> threads_;
};

// A scheduler may let one of them run on for a while, so one look of several.
bool are_loud_at_times() {
    for (int look = 0; look < 20; ++look)
        if (neighbours_are_loud()) return true;
    return false;
}

TEST(Neighbours, AreLoudWhereOthersWantTheCores) {
    const Crowd crowd;
    EXPECT_TRUE(are_loud_at_times());
}

TEST(Neighbours, ThePauseForAQuietMomentEnds) {
    const Crowd crowd;
    EXPECT_LT(wait_for_quiet(Seconds(0.2)).count(), 20);
}

TEST(Neighbours, LeaveTheCallersCoresAsTheyWere) {
    cpu_set_t before, after;
    ::sched_getaffinity(0, sizeof before, &before);
    neighbours_are_loud();
    ::sched_getaffinity(0, sizeof after, &after);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

// A process whose thread waited before the batch as well, or several of whose threads waited at once.
TEST(Neighbours, ExcuseNoMoreThanTheTimeWithoutACore) {
    Runner::Outcome outcome;
    outcome.outside_ns = 1000;
    outcome.waited_ns = 300;
    outcome.ran_ns = 600;
    EXPECT_EQ(outcome.awake_ns(), 700);
    outcome.waited_ns = 5000;
    EXPECT_EQ(outcome.awake_ns(), 600);
    outcome.ran_ns = 2000;  // some of it before
    EXPECT_EQ(outcome.awake_ns(), 1000);
}

}  // namespace
}  // namespace strop::judge
