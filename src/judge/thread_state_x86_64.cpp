// Of x86-64: MXCSR, read by ptrace(2).
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <optional>

#include <fmt/format.h>

#include "judge/mxcsr.h"
#include "judge/thread_state.h"

namespace strop::judge {

namespace {

// Empty where the thread has ended, or nobody may look.
std::optional<uint32_t> mxcsr_of(pid_t thread) {
    if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return std::nullopt;
    std::optional<uint32_t> found;
    int status = 0;
    if (::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 && ::waitpid(thread, &status, __WALL) == thread &&
        WIFSTOPPED(status)) {
        user_fpregs_struct registers;
        if (::ptrace(PTRACE_GETFPREGS, thread, nullptr, &registers) == 0) found = registers.mxcsr;
    }
    ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
    return found;
}

}  // namespace

std::string changed_thread_state(pid_t thread) {
    const std::optional<uint32_t> now = mxcsr_of(thread);
    if (!now) return {};
    for (size_t i = 0; i < mxcsr::parts.size(); ++i)
        if ((*now ^ mxcsr::usual) & mxcsr::parts[i])
            return fmt::format("left {} changed in one of its threads", mxcsr::names[i]);
    return {};
}

}  // namespace strop::judge
