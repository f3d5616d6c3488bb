// Reductions over a few elements as operations on slices, before a graph is cut into stages: three channels of a pixel
// are read where they are needed, and what they give need not be stored.
#pragma once

#include "graph/graph.h"

namespace strop::playbook {

// The graph with each sum, product, maximum and minimum over one axis of at most four elements unrolled.
Graph unrolled_short_reductions(const Graph& graph);

}  // namespace strop::playbook
