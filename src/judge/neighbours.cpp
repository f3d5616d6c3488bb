#include "judge/neighbours.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace strop::judge {

namespace {

// Several turns of a scheduler that lets two threads share a core: one that has just come may have the first for
// itself.
constexpr Seconds busy_for{0.008};
constexpr double loud_share = 0.2;  // of that time, that a thread had no core
constexpr Seconds shortest_pause{0.01}, longest_pause{0.1};

double thread_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Of its time, the share that the calling thread was kept from that core.
double waited_share(size_t core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    if (::sched_setaffinity(0, sizeof only, &only) != 0) return 0;
    const Clock::time_point start = Clock::now();
    const double before = thread_seconds();
    while (Clock::now() - start < busy_for) {
    }
    const double wall = seconds_since(start);
    return std::max(0.0, 1 - (thread_seconds() - before) / wall);
}

}  // namespace

bool has_patience() {
    const char* said = std::getenv("STROP_PATIENCE");
    return !said || std::string_view(said) != "none";
}

bool neighbours_are_loud() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
    std::vector<double> shares(CPU_SETSIZE, 0.0);
    std::vector<std::thread> threads;
    for (size_t core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &allowed)) threads.emplace_back([&shares, core] { shares[core] = waited_share(core); });
    for (std::thread& thread : threads) thread.join();
    return *std::max_element(shares.begin(), shares.end()) > loud_share;
}

Seconds wait_for_quiet(Seconds limit) {
    const Clock::time_point start = Clock::now();
    for (Seconds pause = shortest_pause; neighbours_are_loud(); pause = std::min(2 * pause, longest_pause)) {
        if (Clock::now() - start + pause > limit) break;
        std::this_thread::sleep_for(pause);
    }
    return Clock::now() - start;
}

}  // namespace strop::judge
