// Reductions over a few elements as operations on slices, before a graph is cut into stages: three channels of a pixel
// are read where they are needed, and what they give need not be stored.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace strop::playbook {

inline constexpr int64_t most_unrolled = 4;  // elements

// The graph with each sum, product, maximum and minimum over one axis of so few elements unrolled, and each product
// with a vector of so few.
Graph unrolled_short_reductions(const Graph& graph);

}  // namespace strop::playbook
