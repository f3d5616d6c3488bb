// Plain C++ for any part of a graph: one loop nest for each value that is stored, with the pointwise
// operations, layouts and gathers before it written into its loops. It is right for everything that can be
// traced. Threads share the outer loops; the innermost runs along memory where that is possible, so that the
// compiler makes vectors of it. The text needs `// strop:team` and a constant PARALLEL_MIN.
#pragma once

#include <set>
#include <string>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// Whether this is a concatenation whose parts one nest of loops computes.
bool is_joined_in_one_nest(const Graph& graph, const Node& node);

struct PlainLoops {
    std::string body;               // the function of the problem's name, one nest for each output
    std::set<std::string> helpers;  // of plain_helpers
    std::string lacks;              // non-empty: a value in the middle that needs a nest of its own
};
PlainLoops write_plain_loops(const Problem& problem, const Graph& graph);

// "max_of", "min_of", "sign_of", "floor_divide", "remainder_of", "whole_power", "sum_in", "max_in", "min_in",
// "place_in", "rounded", those of sorts; "exp_of", "expm1_of", "log_of", "tanh_of", "erf_of", "sin_of", "cos_of", of
// which compilers make vectors
std::string plain_helpers(const std::set<std::string>& used);

// Of those, the functions that sort rows: "places_in", "order_in", "sorted_in".
bool has_sort(const std::set<std::string>& used);
std::string sort_helpers(const std::set<std::string>& used);

}  // namespace strop::playbook
