// What an emitter hands out: a strategy with readable source, and what it would try next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/machine.h"
#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

struct Recipe {
    Strategy strategy;   // id, family, hypothesis, bottleneck, excludes, confidence are set
    std::string suffix;  // of a variant's kernel id: "prefetch"; empty for the first kernel
    Language language = Language::cpp;
    std::string source;  // C++ (for OpenCL: around the program) or CUDA C++, contract of language/contract.h, tunables
                         // as comments
    Configuration initial;                // best guess for this machine (all tunables; may be non-first values)
    std::optional<Expression> condition;  // where it may be called; absent: everywhere
    std::vector<Recipe> variants;         // what deepening tries, in order: one change each
};

// What an emitter says of a graph.
struct Recipes {
    std::vector<Recipe> recipes;  // empty when the structure is not this emitter's
    std::string lacks;            // then: what is missing, if the structure is nearly its own ("reduction 'argmax'")
};

// Strategies of one structure: each names the others.
void exclude_each_other(std::vector<Recipe>& recipes);

// One emitter a structure. All take the simplified graph.
Recipes emit_loops(const Problem& problem, const Graph& graph, const Machine& machine);  // pointwise and reductions
Recipes emit_contraction(const Problem& problem, const Graph& graph, const Machine& machine);  // with epilogue
Recipes emit_convolution(const Problem& problem, const Graph& graph, const Machine& machine);  // with epilogue
Recipes emit_windows(const Problem& problem, const Graph& graph, const Machine& machine);      // pooling
Recipes emit_places(const Problem& problem, const Graph& graph, const Machine& machine);       // argmax, argmin
Recipes emit_scan(const Problem& problem, const Graph& graph, const Machine& machine);         // cumsum, cummax
Recipes emit_recurrence(const Problem& problem, const Graph& graph, const Machine& machine);   // loops over time
Recipes emit_repeat(const Problem& problem, const Graph& graph, const Machine& machine);       // loops of any length
// The first of these that takes the whole, over float64 too (doubles.h).
Recipes emit_structure(const Problem& problem, const Graph& graph, const Machine& machine);
// What none of them takes whole: programs of several of their kernels, with plain loops where all of them refuse.
Recipes emit_program(const Problem& problem, const Graph& graph, const Machine& machine);
// Any graph as an OpenCL program, or in CUDA C++.
Recipes emit_opencl(const Problem& problem, const Graph& graph, const Machine& machine);
Recipes emit_cuda(const Problem& problem, const Graph& graph, const Machine& machine);

}  // namespace strop::playbook
