// A stage of a graph as a problem of its own.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

struct Stage {
    std::vector<int> nodes;    // computed here, in order; views and generated values are not listed
    std::vector<int> outputs;  // of these, what others or the caller read
    bool plain = false;        // for plain loops only
};

// A stage as a problem of its own. `names`: of values in memory, one a node of the graph.
struct StageProblem {
    Problem problem;
    Graph graph;
};
StageProblem stage_problem(const Problem& problem, const Graph& graph, const Stage& stage,
                           const std::vector<std::string>& names, const std::string& function);

// Dimensions and parameters that the stage does not mention are not passed.
void keep_used(StageProblem& stage);

// The same over the same memory, with fewer axes (graph/merge_axes.h): for stages that pass each other pointers only.
StageProblem with_merged_axes(StageProblem stage);

// Inputs that are read through one reshape only have its shape, outputs that are reshapes that of what is computed: the
// memory is the same, and who is called with pointers does not see it.
StageProblem with_shapes_as_used(StageProblem whole);

}  // namespace strop::playbook
