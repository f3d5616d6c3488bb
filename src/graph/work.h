// How much arithmetic a graph takes: for the roofline of problems that do not state their work.
#pragma once

#include "graph/graph.h"

namespace strop {

// Floating operations of one evaluation: an addition, multiplication, comparison or division counts 1, exp and its
// kin count 1 as well (NumPy's view of the work, not a kernel's). 0 for an untraceable graph.
double count_flops(const Graph& graph, const Bindings& dimensions);

}  // namespace strop
