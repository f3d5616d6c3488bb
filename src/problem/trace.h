// Runs the Python tracer over a reference, in a sandboxed child.
#pragma once

#include <string>

#include "core/problem.h"

namespace strop {

// The tracer's JSON document (see graph/graph.h). Never throws for what the reference does: a reference that
// cannot be traced yields {"untraceable": "..."}; EnvironmentError when there is no Python or no NumPy.
std::string trace_reference(const Problem& problem);

}  // namespace strop
