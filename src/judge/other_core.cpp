#include "judge/other_core.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace strop::judge {

namespace {

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

}  // namespace

OtherCore::OtherCore(pid_t process) {
    const std::optional<int> core = core_of(process);
    if (!core || *core < 0 || *core >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t others = before_;
    CPU_CLR(static_cast<size_t>(*core), &others);
    moved_ = CPU_COUNT(&others) > 0 && ::sched_setaffinity(0, sizeof others, &others) == 0;
}

OtherCore::~OtherCore() {
    if (moved_) (void)::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace strop::judge
