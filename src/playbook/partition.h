// Cuts a graph into stages, each of which an emitter writes as one kernel; values that pass from one to
// another go through memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"
#include "playbook/stage_problem.h"

namespace strop::playbook {

// How much a stage may hold.
enum class Fusion {
    fused,  // products and convolutions with what follows them, reductions with what surrounds them
    apart,  // products and convolutions alone
    plain,  // nothing but plain loops: pointwise operations fused into their one consumer
};

// Whether a fast emitter would take this.
using Claims = std::function<bool(const StageProblem&)>;

// In an order in which they can run. Every output of the graph must be a computed value of its own
// (own_outputs). `plain_only`: nodes that no fast emitter may have.
std::vector<Stage> partition(const Problem& problem, const Graph& graph, Fusion fusion, const Claims& claims,
                             const std::vector<char>& plain_only);

// The graph with a copy for every output that is an input, a view, generated, of another type than the
// problem wants, or an output twice.
Graph own_outputs(const Problem& problem, const Graph& graph);

// The graph with a copy for every input of 16 bits that a loop (Family::repeat) reads.
Graph own_loop_operands(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
