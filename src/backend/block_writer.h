// Writes a schedule for threads in blocks, the model that OpenCL, CUDA and HIP share: which thread takes
// which position, masks of the last block, partial results in shared memory, barriers.
#pragma once

#include <string>
#include <vector>

#include "backend/dialect.h"
#include "backend/launch_parts.h"
#include "schedule/schedule.h"

namespace strop::backend {

// Names of tunables that the writer adds where a launch needs them.
inline constexpr const char* block_threads = "LOCAL";  // threads of a block; a power of two
inline constexpr const char* each_element = "EACH";    // elements that one thread computes, a block's width apart
inline constexpr const char* each_m = "EACH_M";        // elements of a tile that one thread computes
inline constexpr const char* each_n = "EACH_N";

struct BlockKernel {
    std::string name;
    LaunchArguments arguments;    // tensors, parameters, dimensions, in this order; tunables are constants
    Expression blocks, threads;   // launched; over dimensions and tunables
    Expression shared_bytes = 0;  // of a block, beside what its text declares
    std::string text;             // from its head to its closing brace
};

struct BlockProgram {
    std::string helpers;               // functions that the kernels call
    std::vector<BlockKernel> kernels;  // one per launch
    std::vector<Tunable> tunables;     // that the writer added
    std::vector<Expression> constraints;
    std::string lacks;  // non-empty: what the dialect cannot say
};

BlockProgram write_blocks(const Problem& problem, const schedule::Schedule& schedule, const Dialect& dialect);

}  // namespace strop::backend
