// What a function must leave as it found it. For strop-candidate, which is linked with nothing else of ours;
// processor_state_ARCHITECTURE.cpp knows the registers, the build chooses it.
#pragma once

#include <signal.h>

#include <array>
#include <cstdint>

namespace strop::judge {

// Control registers of the calling thread: rounding, traps, subnormals, whatever else the architecture has.
struct ControlRegisters {
    static constexpr int count = 5;
    std::array<uint64_t, count> values{};
    static ControlRegisters now();
    static const char* name(int index);  // "the rounding of vector instructions"
    static void restore();               // what a process starts with
};

struct ProcessorState {
    ControlRegisters registers = ControlRegisters::now();
    std::array<struct sigaction, 32> handlers = present_handlers();
    uint64_t cores = present_cores();  // the first 64 that the thread may run on

    void take_present_cores() { cores = present_cores(); }

    // What differs from this state now, "left ... changed"; null: nothing. OpenMP may bind the thread to its
    // first core.
    const char* changes() const;

private:
    static std::array<struct sigaction, 32> present_handlers();
    static uint64_t present_cores();
};

}  // namespace strop::judge
