// The memory that kernels see, and what every access to it is checked for: bounds, what was never written, and races.
// A race is two accesses to the same bytes, one of them a write, that no barrier orders: happens-before over barriers
// of the block, clocks of the lanes of a warp (vector clocks: Mattern 1989; one record a location as in FastTrack:
// Flanagan, Freund 2009), and fences with atomics between blocks. Blocks run one after the other, so an order that
// happened by chance is not taken for one that was asked for.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace emulator {

enum Access : unsigned { read_access = 0, write_access = 1, atomic_access = 2, volatile_access = 4 };

// An access of the thread that runs, or of the host where none does. Ends the process with a finding.
void check_access(const void* at, size_t bytes, unsigned kind, const void* code);

// A variable of the block, where a thread passes its declaration. `at` lies in the section of such variables.
void shared_variable(const char* name, const void* at, size_t bytes, const void* code);
// Of a launch: 0 bytes where it asks for none.
char* dynamic_shared_memory();

// A call of a kernel's function: tensors of the host are copied to memory of the device and back.
struct Tensor {
    const char* name;
    void* host;
    int64_t bytes;
    bool is_output;
    void* device = nullptr;
};
void copy_in(Tensor* tensors, int count);
void copy_out(const Tensor* tensors, int count);

// cudaMalloc and its like: 256-byte aligned, filled with NaN, unwritten.
void* allocate(size_t bytes);
void release(void* memory);
// Written by a copy or a fill of the host; a finding where it is not in one array.
void host_writes(void* at, size_t bytes, const void* code);
void host_reads(const void* at, size_t bytes, const void* code);
bool is_device_memory(const void* at);

// What a launch, a block and a barrier begin.
void launch_begins(size_t dynamic_bytes, const void* parameters, size_t parameter_bytes, uint32_t blocks);
void launch_ends();
void block_begins();
void block_ends();
void barrier_passed();
// What the block has written is there for others (__threadfence).
void fence();

}  // namespace emulator
