// Values that no input changes, as arrays of constants.
#pragma once

#include <string>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// Definitions of arrays with a stage's outputs, of their names; nothing where it reads something, an extent varies, or
// they are too large to be read in a source.
std::string table_text(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
