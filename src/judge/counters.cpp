#include "judge/counters.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace strop::judge {

namespace {

constexpr uint64_t read_misses(uint64_t cache) {
    return cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
}

int open_counter(const CounterKind& kind, pid_t thread) {
    perf_event_attr attributes = {};
    attributes.size = sizeof attributes;
    attributes.type = kind.type;
    attributes.config = kind.config;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

const std::vector<CounterKind> hardware_counters = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"stalled_cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"first_level_misses", PERF_TYPE_HW_CACHE, read_misses(PERF_COUNT_HW_CACHE_L1D)},
    {"last_level_misses", PERF_TYPE_HW_CACHE, read_misses(PERF_COUNT_HW_CACHE_LL)},
    {"page_table_misses", PERF_TYPE_HW_CACHE, read_misses(PERF_COUNT_HW_CACHE_DTLB)},
};

Counters::Counters(const std::vector<pid_t>& threads, const std::vector<CounterKind>& kinds, std::string& why_none) {
    int failure = 0;
    for (const CounterKind& kind : kinds)
        for (pid_t thread : threads) {
            const int fd = open_counter(kind, thread);
            if (fd >= 0) open_.push_back({fd, kind.name});
            else if (failure == 0) failure = errno;
        }
    if (!open_.empty() || threads.empty()) return;
    const bool forbidden = failure == EACCES || failure == EPERM;
    why_none = forbidden
                   ? "no hardware counters: kernel.perf_event_paranoid or the container lets this user count nothing"
                   : fmt::format("no hardware counters: this system offers none ({})", std::strerror(failure));
}

Counters::~Counters() {
    for (const Open& one : open_) ::close(one.fd);
}

void Counters::start() {
    for (const Open& one : open_) {
        ::ioctl(one.fd, PERF_EVENT_IOC_RESET, 0);
        ::ioctl(one.fd, PERF_EVENT_IOC_ENABLE, 0);
    }
}

std::map<std::string, double> Counters::stop() {
    std::map<std::string, double> sums;
    for (const Open& one : open_) ::ioctl(one.fd, PERF_EVENT_IOC_DISABLE, 0);
    for (const Open& one : open_) {
        uint64_t read[3] = {};  // events, nanoseconds enabled, nanoseconds on a register
        if (::read(one.fd, read, sizeof read) != sizeof read || read[2] == 0) continue;
        sums[one.name] += static_cast<double>(read[0]) * static_cast<double>(read[1]) / static_cast<double>(read[2]);
    }
    return sums;
}

}  // namespace strop::judge
