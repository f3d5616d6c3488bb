#include "judge/cores.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "judge/parallel_for.h"
#include "judge/runner.h"

namespace strop::judge {

namespace {

bool allowed_to(pid_t thread, cpu_set_t& cores) { return ::sched_getaffinity(thread, sizeof cores, &cores) == 0; }

bool bind(pid_t thread, const cpu_set_t& cores) { return ::sched_setaffinity(thread, sizeof cores, &cores) == 0; }

}  // namespace

// Field 39 of proc_pid_stat(5), "processor"; fields are counted behind the name, which may hold anything.
std::optional<int> core_of(pid_t process) {
    std::ifstream file(fmt::format("/proc/{}/task/{}/stat", process, process));
    std::string word;
    if (!std::getline(file, word)) return std::nullopt;
    size_t at = word.rfind(')');
    for (int field = 2; field < 39 && at != std::string::npos; ++field) at = word.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
    return std::atoi(word.c_str() + at);
}

std::optional<int> only_core_of(pid_t process) {
    cpu_set_t allowed;
    if (!allowed_to(process, allowed) || CPU_COUNT(&allowed) != 1) return std::nullopt;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(static_cast<size_t>(core), &allowed)) return core;
    return std::nullopt;
}

OneCore::OneCore(const Runner& runner, int core, bool shares) : runner_(runner) {
    if (core < 0 || core >= CPU_SETSIZE || !allowed_to(runner.pid(), of_process_) || !allowed_to(0, of_caller_)) return;
    const size_t index = static_cast<size_t>(core);
    if (!CPU_ISSET(index, &of_process_)) return;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(index, &only);
    const bool was_bound = CPU_COUNT(&of_process_) == 1;
    bound_ = !was_bound && bind(runner.pid(), only);
    shares_ = shares && (was_bound || bound_) && bind(0, only);
    if (shares_) unshared_cores = &of_caller_;
}

OneCore::~OneCore() {
    if (bound_)
        for (const pid_t thread : runner_.threads()) (void)bind(thread, of_process_);
    if (!shares_) return;
    (void)bind(0, of_caller_);
    unshared_cores = nullptr;
}

OtherCore::OtherCore(pid_t process) {
    const std::optional<int> core = core_of(process);
    if (!core || *core < 0 || *core >= CPU_SETSIZE || !allowed_to(0, before_)) return;
    cpu_set_t others = unshared_cores ? *unshared_cores : before_;
    CPU_CLR(static_cast<size_t>(*core), &others);
    moved_ = CPU_COUNT(&others) > 0 && bind(0, others);
}

OtherCore::~OtherCore() {
    if (moved_) (void)bind(0, before_);
}

}  // namespace strop::judge
