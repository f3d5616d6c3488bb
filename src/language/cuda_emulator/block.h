// Threads of a block as fibers of one thread of the system: each runs until it waits, in the order of their numbers, so
// that a run is always the same. Blocks run one after the other.
#pragma once

#include <stdint.h>

#include <emulator/types.h>

namespace emulator {

constexpr unsigned warp_size = 32, most_threads = 1024;

struct Thread {
    enum class State { ready, at_barrier, in_warp, left };

    void* stack_pointer = nullptr;
    State state = State::ready;
    const void* code = nullptr;  // where it waits
    int line = 0;
    int predicate = 0;  // of a barrier that counts
    // Of what it does with its warp:
    const char* operation = nullptr;
    uint32_t mask = 0;
    uint64_t value = 0, result = 0;
    unsigned source = 0;  // the lane whose value it wants
    uint64_t gathered[warp_size];
    uint32_t participants = 0;
    // How far it has seen each lane of its warp go; its own entry counts its meetings.
    uint32_t clocks[warp_size];
};

// The thread that runs; null in host code.
Thread* running();
unsigned running_number();
uint32_t running_block();
const void* running_kernel();  // null also where only its name is known
const char* running_kernel_name();
bool is_in_own_stack(const void* at);
bool is_in_any_stack(const void* at);
uint3 index_of(unsigned thread);

}  // namespace emulator
