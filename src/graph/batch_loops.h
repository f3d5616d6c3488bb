// Loops whose steps do not need each other: the steps become an axis of everything that they compute.
#pragma once

#include "graph/graph.h"

namespace strop {

// Where what a step multiplies without its state (`x[t] @ w`) is multiplied: fewer and larger products, but all of them
// go through memory.
enum class Products { in_steps, before_loops };

// Loops without states (over the rows of a batch, over heads) are no loops any more, and loops within them take all of
// their steps at a time. What cannot have a further axis, such as a convolution, stays in its loop.
Graph batched_loops(const Graph& graph, Products products = Products::in_steps);

}  // namespace strop
