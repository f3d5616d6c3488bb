// One launch of a schedule as a Triton kernel: which lanes there are, masks, accumulators.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/launch_parts.h"
#include "backend/term_text.h"
#include "schedule/schedule.h"

namespace strop::backend {

// Names of tunables that the writer adds where a launch needs them; powers of two.
inline constexpr const char* block_lanes = "BLOCK";  // elements that a program computes side by side
inline constexpr const char* chunk_lanes = "CHUNK";  // of a row that a program walks along
inline constexpr const char* row_lanes = "ROW";      // of a row that a program keeps: not tunable

struct TritonKernel {
    LaunchArguments arguments;
    std::vector<std::string> constants;  // arguments that are known at compile time, beside INDEX
    Expression programs;                 // over dimensions and constants
    std::optional<Expression> row;       // elements of the row that a program keeps
    std::string text;                    // from its decorator on
};

TritonKernel write_triton_kernel(const Problem& problem, const schedule::Schedule& schedule,
                                 const schedule::Launch& launch, Helpers& helpers, std::string& lacks);

}  // namespace strop::backend
