// Cuts a graph into stages, each of which an emitter writes as one kernel; values that pass from one to
// another go through memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// How much a stage may hold.
enum class Fusion {
    fused,  // products and convolutions with what follows them, reductions with what surrounds them
    apart,  // products and convolutions alone
    plain,  // nothing but plain loops: pointwise operations fused into their one consumer
};

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

// Whether a fast emitter would take this.
using Claims = std::function<bool(const StageProblem&)>;

// In an order in which they can run. Every output of the graph must be a computed value of its own
// (own_outputs). `plain_only`: nodes that no fast emitter may have.
std::vector<Stage> partition(const Problem& problem, const Graph& graph, Fusion fusion, const Claims& claims,
                             const std::vector<char>& plain_only);

// The graph with a copy for every output that is an input, a view, generated, of another type than the
// problem wants, or an output twice.
Graph own_outputs(const Problem& problem, const Graph& graph);

// The graph with a copy for everything that a loop (Family::repeat) starts from and that is not in memory as it is
// computed: views, generated values, inputs of 16 bits.
Graph own_first_values(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
