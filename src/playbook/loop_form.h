// A graph of pointwise operations and reductions seen as one loop nest (rows, depth, columns): every value
// spans some of these axes, reductions run over one of them, and a value belongs to the pass in which it can
// be known.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"

namespace strop::playbook {

struct Span {
    bool reduced = false;    // varies along the reduced axis (pointwise chains: along the last axis)
    bool inner = false;      // varies along the axes behind the reduced one
    bool all_outer = false;  // varies along all the axes before it
    bool any_outer = false;
    std::string outer_index;  // C++ over `row`: which of its outer slices belongs to a row
};

enum class Nest {
    pointwise,  // rows x columns, nothing reduced
    rows,       // rows x columns, the columns are reduced
    columns,    // rows x depth x columns, the depth is reduced
};

struct LoopForm {
    Nest nest = Nest::pointwise;
    Problem problem;                   // with names that collide with nothing in a kernel
    Graph graph;                       // what the outputs need; division by what a row shares is multiplication
    std::vector<Span> spans;           // one a node
    std::vector<int> stages;           // one a node: the number of passes that must have ended before
    std::string rows, depth, columns;  // extents, C++
    Expression column_count;           // what `columns` says
    Expression last_extent;            // of the last axis, over the problem's own names
    int passes = 0;                    // that reduce something; outputs may need one more to be written
    std::string lacks;                 // non-empty: why this is no such nest

    std::vector<int> reductions(int pass) const;  // done in this pass
    std::vector<int> full_outputs() const;        // positions in graph.outputs that span the reduced axis
    std::vector<int> reduced_outputs() const;     // positions in graph.outputs that do not
    bool full(int id) const { return spans[static_cast<size_t>(id)].reduced; }
    const Span& span(int id) const { return spans[static_cast<size_t>(id)]; }
    int stage(int id) const { return stages[static_cast<size_t>(id)]; }
};

LoopForm loop_form(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
