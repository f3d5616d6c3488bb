// Loops whose steps do not need each other: the steps become an axis of everything that they compute.
#pragma once

#include "graph/graph.h"

namespace strop {

// Loops without states (over the rows of a batch, over heads) are no loops any more, loops within them take all of their
// steps at a time, and what a step of another loop multiplies without its state (`x[t] @ w`) is one product before it.
// What cannot have a further axis, such as a convolution, stays in its loop.
Graph batched_loops(const Graph& graph);

}  // namespace strop
