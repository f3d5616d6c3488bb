// Hardware counters of a child's threads (perf_event_open(2)), in user mode only. Many virtual machines offer none, and
// many systems let only root count.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strop::judge {

struct CounterKind {
    const char* name;
    uint32_t type;
    uint64_t config;
};

// Cycles, instructions, misses by level of the caches, branches that were foreseen wrongly, stalled cycles.
extern const std::vector<CounterKind> hardware_counters;

class Counters {
public:
    // Those that the system offers, stopped and at zero. `why_none`: where it offers none of them.
    Counters(const std::vector<pid_t>& threads, const std::vector<CounterKind>& kinds, std::string& why_none);
    ~Counters();
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;

    void start();
    // Events since start(), all threads together; scaled up where a counter had to share its register with others.
    std::map<std::string, double> stop();

private:
    struct Open {
        int fd;
        const char* name;
    };
    std::vector<Open> open_;
};

}  // namespace strop::judge
