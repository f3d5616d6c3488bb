// Copies of what convolutions and contractions read, before a graph is cut into stages: their kernels read float32 as
// it lies in memory.
#pragma once

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

// The graph with a conversion of its own for every 16-bit input that a convolution reads, which wants float32.
Graph widened_operands(const Problem& problem, const Graph& graph);

// The graph with a copy of its own for every operand of a convolution that lies otherwise than in memory (turned round,
// cut out, transposed), and of a contraction that strides do not describe (queries cut out of a joint projection).
Graph arranged_operands(const Graph& graph);

}  // namespace strop::playbook
