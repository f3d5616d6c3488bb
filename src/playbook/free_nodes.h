// What every stage that reads a value may compute for itself, so that it need not be stored.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace strop::playbook {

// An input, a scalar, an index.
bool is_leaf(const Node& node);

// For each node of the graph: leaves, what is known without reading an array (but tables that take long), views, what
// is cheap again.
std::vector<char> free_nodes(const Graph& graph);

}  // namespace strop::playbook
