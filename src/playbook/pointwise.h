// C++ text for pointwise expressions of the graph, on vectors or on scalars.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace strop::playbook {

struct PointwiseCode {
    std::vector<std::string> statements;  // "vec e = vexp(x - row_max);", one a named intermediate
    std::string result;                   // expression or name of the value
    std::set<std::string> helpers;        // for vector_prelude
    std::string lacks;                    // non-empty: an operation that cannot be emitted
};

// The value of node `id`, from `known` values (node id -> C++ expression of type vec, or float when
// `scalar`). Scalar parameters and constants are spelled directly (parameters by name); reciprocal and
// division by a value that does not change in the loop should be hoisted by the caller through `known`.
// Intermediates used once are inlined while the expression stays short; names are `prefix` plus a word for
// the operation. Nodes in `uniform` are known as a float that is the same in every lane.
PointwiseCode emit_pointwise(const Graph& graph, int id, const std::map<int, std::string>& known,
                             const std::string& prefix, bool scalar, const std::set<int>& uniform = {});

}  // namespace strop::playbook
