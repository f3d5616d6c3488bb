#include "judge/processor_state.h"

#include <sched.h>

#include <cstdio>

namespace strop::judge {

std::array<struct sigaction, 32> ProcessorState::present_handlers() {
    std::array<struct sigaction, 32> handlers{};
    for (int signal = 1; signal < 32; ++signal) ::sigaction(signal, nullptr, &handlers[static_cast<size_t>(signal)]);
    return handlers;
}

uint64_t ProcessorState::present_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 0;
    uint64_t cores = 0;
    for (int core = 0; core < 64; ++core)
        if (CPU_ISSET(core, &set)) cores |= uint64_t{1} << core;
    return cores;
}

const char* ProcessorState::changes() const {
    static char text[120];
    const ControlRegisters registers_now = ControlRegisters::now();
    for (int i = 0; i < ControlRegisters::count; ++i) {
        if (registers_now.values[static_cast<size_t>(i)] == registers.values[static_cast<size_t>(i)]) continue;
        std::snprintf(text, sizeof text, "left %s changed", ControlRegisters::name(i));
        return text;
    }
    const std::array<struct sigaction, 32> handlers_now = present_handlers();
    for (size_t signal = 1; signal < 32; ++signal) {
        if (handlers_now[signal].sa_handler == handlers[signal].sa_handler) continue;
        std::snprintf(text, sizeof text, "left a handler for signal %zu behind", signal);
        return text;
    }
    const uint64_t cores_now = present_cores(), first_core = cores & -cores;
    if (cores_now != cores && cores_now != first_core) return "left the calling thread bound to other cores";
    return nullptr;
}

}  // namespace strop::judge
