// What the referee and the processes under it say to each other: fixed-size messages over a pair of pipes
// (descriptor 3: requests, 4: replies) and tensors in shared memory. Shared with candidate.cpp, which is a program of
// its own; python/strop/host.py reads the same bytes.
#pragma once

#include <cstdint>

namespace strop::judge {

enum class Op : uint32_t {
    prepare = 1,   // map and touch the buffers of `point`
    call = 2,      // `calls` calls at `point` with inputs from `set`; 0 is an empty batch
    evaluate = 3,  // reference only: payload is a JSON job
    quit = 4,
    load = 5,  // reference only: answered as soon as it could evaluate
};

struct Request {
    Op op;
    uint32_t point = 0;
    uint32_t calls = 0;
    uint32_t set = 0;
    uint32_t window = 0;         // of the first call; kernels go on from window to window, Python stays at window 0
    uint32_t payload_bytes = 0;  // JSON behind the request
};

struct Reply {
    int32_t status = 0;              // 0: done, 1: failed, 2: not available, 3: left the processor in another state
    uint32_t payload_bytes = 0;      // a text behind the reply: what went wrong
    int64_t inside_nanoseconds = 0;  // of the batch by the child's own clock; a cross-check, never the time
};

// What a candidate needs to know, as one array of int64 in a memory file (descriptor given as argument):
//   magic, points, inputs, outputs, parameters, dimensions, late values, progress descriptor, CUDA device or -1
//   parameters (bits of doubles), late values
//   for each point: input descriptor, output descriptor, sets, windows, bytes between windows, slots, dimensions...,
//   then
//     for each set: for each input:  region begin, region bytes, data begin (offsets in the input descriptor)
//     for each set: for each output: region begin, region bytes, data begin (offsets in the output descriptor)
//     for each slot: for each output: the same
// The last set has windows, if there are any: call i of a batch reads from window (first + i) % windows and writes to
// slot i % slots. On a device both descriptors of a point are one, of the device's memory, whose only region they are
// in. Behind the progress descriptor lies one int64: how many calls of the present batch have returned.
inline constexpr int64_t layout_magic = 0x53545250'4c594f33;

// The candidate's exit codes; its standard error says what went wrong: there is no kernel that could be called, the
// device failed, a kernel in Python raised, or returned what does not fit the outputs.
inline constexpr int no_kernel_loaded = 70, gpu_failed = 71, python_raised = 72, python_misfit = 73;

}  // namespace strop::judge
