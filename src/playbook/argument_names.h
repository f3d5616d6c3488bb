// Names of a kernel's arguments that would hide what the kernel itself defines.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// Tensors, parameters and dimensions that bear one of these names get an underscore, in the problem and in
// the graph. Returns the symbols that were given a new name, as expressions of the old one.
std::map<std::string, Expression> free_names(Problem& problem, Graph& graph, const std::set<std::string>& reserved);

}  // namespace strop::playbook
