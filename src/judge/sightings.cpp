#include "judge/sightings.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace strop::judge {

namespace {

const Seconds longest_stop{2};
const std::chrono::microseconds stop_takes{10};

// A library's first mapping: where it begins, all of it has been moved by as much.
struct Mapping {
    uint64_t begin = 0, end = 0, base = 0;
    std::string library;
};

std::vector<Mapping> mappings_of(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/maps", process));
    std::vector<Mapping> mappings;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string range, rights, offset, device, inode, path;
        words >> range >> rights >> offset >> device >> inode >> path;
        if (path.empty() || path[0] != '/') continue;
        Mapping mapping;
        const size_t dash = range.find('-');
        mapping.begin = std::stoull(range.substr(0, dash), nullptr, 16);
        mapping.end = std::stoull(range.substr(dash + 1), nullptr, 16);
        mapping.library = std::filesystem::path(path).filename();
        const bool same = !mappings.empty() && mappings.back().library == mapping.library;
        mapping.base = same ? mappings.back().base : mapping.begin;
        mappings.push_back(mapping);
    }
    return mappings;
}

Sighting sighting_at(uint64_t pointer, const std::vector<Mapping>& mappings) {
    for (const Mapping& mapping : mappings)
        if (pointer >= mapping.begin && pointer < mapping.end) return {false, mapping.library, pointer - mapping.base};
    return {};
}

// A thread that is traced, and goes its way again when this ends.
class Traced {
public:
    explicit Traced(pid_t thread) : thread_(::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0 ? thread : -1) {}
    Traced(Traced&& other) noexcept : thread_(std::exchange(other.thread_, -1)) {}
    Traced& operator=(Traced&& other) noexcept {
        std::swap(thread_, other.thread_);
        return *this;
    }
    ~Traced() {
        if (thread_ >= 0 && stop()) ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
    }

    bool alive() const { return thread_ >= 0; }

    // Nothing: it could not be seen.
    std::optional<Sighting> look(const std::vector<Mapping>& mappings) {
        if (!stop()) return std::nullopt;
        __ptrace_syscall_info info = {};
        const bool known = ::ptrace(PTRACE_GET_SYSCALL_INFO, thread_, sizeof info, &info) > 0;
        const bool in_system = known && follows_system_call(info.instruction_pointer);
        ::ptrace(PTRACE_CONT, thread_, nullptr, nullptr);
        if (!known) return std::nullopt;
        return in_system ? Sighting{true, {}, 0} : sighting_at(info.instruction_pointer, mappings);
    }

private:
    // `syscall` of x86-64 ends in these bytes, `svc 0` of AArch64 in those; neither occurs there as the other's.
    bool follows_system_call(uint64_t pointer) const {
        errno = 0;
        const long before = ::ptrace(PTRACE_PEEKTEXT, thread_, pointer - sizeof(long), nullptr);
        unsigned char bytes[sizeof before];
        std::memcpy(bytes, &before, sizeof before);
        constexpr unsigned char x86_64[] = {0x0f, 0x05}, aarch64[] = {0x01, 0x00, 0x00, 0xd4};
        return errno == 0 && (std::equal(std::begin(x86_64), std::end(x86_64), std::end(bytes) - 2) ||
                              std::equal(std::begin(aarch64), std::end(aarch64), std::end(bytes) - 4));
    }

    // Signals that come in between reach it. False when it has ended, which is left for its parent to find.
    bool stop() {
        if (::ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) thread_ = -1;
        const Clock::time_point start = Clock::now();
        while (thread_ >= 0) {
            siginfo_t info = {};
            const int failed =
                ::waitid(P_PID, static_cast<id_t>(thread_), &info, WSTOPPED | WEXITED | WNOWAIT | WNOHANG | __WALL);
            if (failed || (info.si_pid != 0 && info.si_code != CLD_TRAPPED) || Clock::now() - start > longest_stop) {
                thread_ = -1;
            } else if (info.si_pid == 0) {
                std::this_thread::sleep_for(stop_takes);
            } else if (info.si_status >> 8 == PTRACE_EVENT_STOP) {
                return true;
            } else {
                ::ptrace(PTRACE_CONT, thread_, nullptr, info.si_status & 0xff);
            }
        }
        return false;
    }

    pid_t thread_;
};

}  // namespace

std::vector<Sighting> watch_threads(pid_t process, const std::vector<pid_t>& threads, size_t most, Nanoseconds apart,
                                    const std::function<bool()>& ended) {
    const std::vector<Mapping> mappings = mappings_of(process);
    std::vector<Traced> traced;
    for (pid_t thread : threads)
        if (Traced one(thread); one.alive()) traced.push_back(std::move(one));
    std::vector<Sighting> sightings;
    std::minstd_rand random(static_cast<unsigned>(process));
    std::uniform_real_distribution<double> stretch(0.5, 1.5);
    while (!traced.empty() && sightings.size() < most && !ended()) {
        std::this_thread::sleep_for(
            Nanoseconds(static_cast<int64_t>(stretch(random) * static_cast<double>(apart.count()))));
        // One at a time: while it stands still, others may begin to wait for it.
        const size_t chosen = random() % traced.size();
        if (std::optional<Sighting> seen = traced[chosen].look(mappings)) sightings.push_back(*seen);
        if (!traced[chosen].alive()) traced.erase(traced.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    return sightings;
}

}  // namespace strop::judge
