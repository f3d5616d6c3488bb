// How a language for threads in blocks spells what the block writer says: everything that differs between
// OpenCL, CUDA and HIP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/problem.h"

namespace strop::backend {

struct Dialect {
    std::string kernel;           // before the name of a kernel: "__kernel void"
    std::string global;           // before a pointer into the device's memory; may be empty
    std::string shared;           // before an array that a block shares: "__local"
    std::string shared_pointer;   // before a pointer to it, where that differs from a plain one
    std::string restrict_word;    // "restrict"
    std::string device_function;  // before a helper: "static inline"
    std::string thread, block;    // the thread's number in its block, the block's number
    std::string barrier;          // a statement
    std::string infinity, nan;
    std::string (*type)(DType) = nullptr;  // "long"
    std::string index;                     // the type of positions
    // The body of a function from the 16 bits of a tensor's element to a float, and of the way back; empty: there are
    // no such tensors. "uint16_t bits) { ... }\n"
    std::string (*from_half)(DType) = nullptr;
    std::string (*to_half)(DType) = nullptr;
    std::string dynamic_shared;  // declares memory that a block shares whose size a launch gives, as bytes named
                                 // `kept_room`; empty: there is none, and arrays have a fixed size
    std::string unroll;          // before a loop that a thread does in full; empty: it takes one element
    std::vector<int64_t> block_sizes = {128, 64, 256};  // threads; the first is a guess
};

}  // namespace strop::backend
