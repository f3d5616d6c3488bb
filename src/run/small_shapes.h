// Shapes that are cheap to check everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem.h"

namespace strop {

// A few of the sweep and of what was held out, with few elements, boundary values among them.
std::vector<ShapePoint> small_shapes(const Problem& problem, uint64_t seed);
// The sweep's, and those of them that are not in it.
std::vector<ShapePoint> with_small_shapes(const Problem& problem, uint64_t seed);

}  // namespace strop
