// Loops in a function's control flow.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "language/assembly.h"

namespace strop {

// First and last instructions of a function's innermost loops, ascending; see `Loop`.
std::vector<std::pair<size_t, size_t>> innermost_loops(const Function& function);

}  // namespace strop
