// Sorts are read by their order. A graph says of a sort where each element goes (graph/rank.h); that what is sorted is
// written there. Where each element comes from is found as fast, it is what an index of a sort is, and reading by it
// needs neither zeros nor additions, nor more of it than is read.
#pragma once

#include "graph/graph.h"

namespace strop::playbook {

// The same graph, in which sorted values are gathered by orders that are no longer than what is read of them.
Graph with_orders(const Graph& graph);

}  // namespace strop::playbook
