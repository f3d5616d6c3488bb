// Neighbouring axes as one: what every value has side by side, in this order, or not at all.
#pragma once

#include "graph/graph.h"

namespace strop {

// The same values in the same memory, over fewer and longer axes; inputs and outputs have other shapes, axes of extent
// 1 are gone. As it is where nothing can be merged, or where a node is more than a pointwise operation, a reduction, or
// the insertion, removal, repetition or permutation of axes.
Graph merge_axes(const Graph& graph);

}  // namespace strop
