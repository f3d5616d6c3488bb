// What a graph computes, without the names and sizes of its problem.
#pragma once

#include "core/signature.h"
#include "graph/graph.h"

namespace strop {

// Of a simplified graph. Axes are counted from the last, so that a batch axis more makes no difference to operations;
// letters of contractions are named anew, constants have no value.
Signature signature_of(const Graph& graph);

}  // namespace strop
