// Scatters as comparisons of every source with every target, for languages whose threads write one element each.
#pragma once

#include "graph/graph.h"

namespace strop {

// The same values without a scatter: n sources for t targets cost n * t.
Graph expand_scatters(const Graph& graph);

}  // namespace strop
