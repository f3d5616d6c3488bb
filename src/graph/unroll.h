// Loops of a known number of steps, written out.
#pragma once

#include "graph/graph.h"

namespace strop {

// Those whose steps, and what is in them, are together no more than some 20,000 nodes. The others stay.
Graph unrolled_loops(const Graph& graph);

}  // namespace strop
