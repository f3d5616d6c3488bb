// Loops over time that a front end has unrolled: the same nodes again and again, each time over what the step before
// left.
#pragma once

#include <map>
#include <vector>

#include "graph/graph.h"

namespace strop {

struct Recurrence {
    struct Carry {
        int before = 0;    // what `body` reads of the step before it
        int after = 0;     // what it leaves in its place: of `body`, or the `before` of another carry
        int initial = -1;  // what the first step reads; -1: zero
    };
    std::vector<int> body;  // the nodes of one step, operands first, with the views that it reads through
    std::vector<Carry> carries;
    // Slices of `body`: what `begin` and `end` grow by from step to step, one an axis.
    std::map<int, std::vector<int64_t>> moves;
    // The nodes of every step, each parallel to `body`, which is one of them.
    std::vector<std::vector<int>> steps;
    size_t body_step = 0;
};

// Those of at least four steps. A step may hold pointwise operations, contractions and layouts. No node is in two.
std::vector<Recurrence> find_recurrences(const Graph& graph);

}  // namespace strop
