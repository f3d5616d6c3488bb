// One launch of a schedule as a TileLang kernel: which lanes there are, what a block shares, states of folds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/launch_parts.h"
#include "backend/term_text.h"
#include "schedule/schedule.h"

namespace strop::backend {

// Names of tunables that the writer adds where a launch needs them.
inline constexpr const char* tilelang_threads = "THREADS";    // of a block
inline constexpr const char* tilelang_block = "BLOCK";        // elements that a block computes side by side
inline constexpr const char* tilelang_chunk = "CHUNK";        // of a row that a block takes at a time; a power of two
inline constexpr const char* tilelang_stages = "NUM_STAGES";  // how far loads of pieces run ahead
inline constexpr const char* tilelang_row = "ROW";            // of a row that a block keeps: not tunable

struct TileLangKernel {
    LaunchArguments arguments;
    std::vector<std::string> constants;  // tunables, as arguments of the function that makes the kernel
    int64_t piece_bytes = 0;             // of one element of both operands of a product
    std::string text;                    // the function that makes it
};

TileLangKernel write_tilelang_kernel(const Problem& problem, const schedule::Schedule& schedule,
                                     const schedule::Launch& launch, std::string& lacks);

}  // namespace strop::backend
