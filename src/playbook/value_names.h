// What values in memory are called.
#pragma once

#include <string>
#include <vector>

#include "playbook/partition.h"

namespace strop::playbook {

// One name per node, empty for nodes that are not in memory: the caller's tensors keep their names, values
// between stages are called after what made them.
std::vector<std::string> names_of_values(const Problem& problem, const Graph& graph, const std::vector<Stage>& stages);

}  // namespace strop::playbook
