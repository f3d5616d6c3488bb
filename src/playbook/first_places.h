// Sorts of which only the first elements are read (the largest few, a median) need not tell the others apart.
#pragma once

#include "graph/graph.h"

namespace strop::playbook {

// The same graph, with the places of sorted elements (graph/rank.h) no larger than what is read of the sorted values.
Graph with_first_places(const Graph& graph);

}  // namespace strop::playbook
