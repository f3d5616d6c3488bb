// Of x86-64: MXCSR, read by ptrace(2).
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "judge/thread_state.h"

namespace strop::judge {

namespace {

constexpr unsigned rounding = 0x6000, subnormals = 0x8040, masks = 0x1f80;   // the rest of MXCSR are sticky flags
constexpr unsigned usual = 0x1f80;

// Empty where the thread has ended, or nobody may look.
std::optional<unsigned> mxcsr_of(pid_t thread) {
    if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return std::nullopt;
    std::optional<unsigned> mxcsr;
    int status = 0;
    if (::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0 && ::waitpid(thread, &status, __WALL) == thread &&
        WIFSTOPPED(status)) {
        user_fpregs_struct registers;
        if (::ptrace(PTRACE_GETFPREGS, thread, nullptr, &registers) == 0) mxcsr = registers.mxcsr;
    }
    ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
    return mxcsr;
}

}  // namespace

std::string changed_thread_state(pid_t child) {
    std::error_code failed;
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", child), failed)) {
        std::optional<unsigned> mxcsr = mxcsr_of(std::atoi(task.path().filename().c_str()));
        if (!mxcsr) continue;
        const unsigned changed = (*mxcsr ^ usual) & (rounding | subnormals | masks);
        if (changed == 0) continue;
        const char* what = changed & subnormals ? "the treatment of subnormal numbers"
                           : changed & rounding ? "the rounding of vector instructions"
                                                : "floating-point traps";
        return fmt::format("left {} changed in one of its threads", what);
    }
    return {};
}

}  // namespace strop::judge
