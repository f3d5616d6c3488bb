// A loop of any length in the form in which unrolled ones are found: what is before it, one step, and what follows, in
// one graph.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "graph/graph.h"
#include "graph/recurrence.h"

namespace strop::playbook {

struct FlatLoop {
    Graph graph;      // without loops; what a step reads of the one before, and the results, are inputs of it
    Recurrence loop;  // its steps are not listed
    std::string step;
    Expression count;
    std::map<int, int> last;     // results: what is read of them after the last step, the `before` of a carry
    std::map<int, int> stacked;  // results: the node of the step whose values they hold
};

// Nothing where there are several loops, or a step holds more than pointwise operations, contractions and layouts.
std::optional<FlatLoop> flat_loop(const Graph& graph);

}  // namespace strop::playbook
