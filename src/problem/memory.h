// What a problem's buffers need, and what this machine can give.
#pragma once

#include <filesystem>
#include <optional>

#include "core/problem.h"

namespace strop {

// A pool of three input sets with float64 expected values, and the outputs.
double needed_bytes(const Problem& problem, const Dimensions& dims);

// MemAvailable of /proc/meminfo, and what is left of the limits of this process's control groups, whichever
// is less; nothing when neither can be read. `root` stands for / in tests.
std::optional<double> available_bytes(const std::filesystem::path& root = "/");

}  // namespace strop
