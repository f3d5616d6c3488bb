// The computation as a small graph of tensor operations with symbolic dimensions. The Python tracer
// (python/strop/trace.py) writes it as JSON from a NumPy reference; nothing here knows the problem's name.
//
// Operations are families, not names, so that other front ends (torch.export) can feed the same graph.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/expression.h"
#include "core/problem.h"

namespace strop {

enum class Family {
    input,        // op: the input's name
    parameter,    // op: the scalar parameter's name; shape []
    constant,     // value: a literal; or `dim`: an expression over dimensions, as a number; shape []
    iota,         // the index along axes[0], as int64
    pointwise,    // op below; operands broadcast as in NumPy (right-aligned)
    reduction,    // op: sum, prod, max, min, any, all, argmax, argmin; axes; keepdims
    contraction,  // op: einsum; two operands; labels ("bmk", "bkn", "bmn"), one letter an axis
    convolution,  // operands x[N,C,*spatial], w[K,C/groups,*kernel]; attributes below
    scan,         // op: sum, prod, max, min along axes[0]
    layout,       // op: reshape, transpose, broadcast, slice, pad, window, concatenate, reverse
    gather,       // op: take (x, indices) along axes[0]; take_along: indices have x's rank, as in
                  // take_along_axis
    scatter,      // op: sum, max, min; operands target, indices, source: each element of the source is combined
                  // with the target's where indices say along axes[0]. Indices have the source's rank, an extent of
                  // 1 where they are the same for all
    repeat,       // op: last, stack; a loop over time, below
};
std::string name_of(Family family);
std::optional<Family> parse_family(const std::string& name);

// The pointwise operations, reductions and scans, with their meaning: graph/operations.cpp.

struct Repeat;

struct Node {
    int id = 0;  // its index in Graph::nodes; operands have smaller ids
    Family family = Family::input;
    std::string op;
    std::vector<int> operands;
    std::vector<Expression> shape;  // over the problem's dimensions and integer parameters
    DType dtype = DType::float32;

    bool exact = false;  // pointwise: computed as it is written, for something is decided by it (decisions.h)
    // attributes; each is used by the families named
    double value = 0;                 // constant
    std::optional<Expression> dim;    // constant that depends on dimensions
    std::vector<int> axes;            // reduction, scan, gather, iota; layout window/concatenate/reverse: axes;
                                      // layout transpose: the permutation
    bool keepdims = false;            // reduction
    std::vector<std::string> labels;  // contraction: operand, operand, result
    std::vector<Expression> begin, end, step;  // layout slice: one an axis; layout pad: begin, end = amounts
    double pad_value = 0;                      // layout pad
    std::vector<Expression> window;            // layout window: one an entry of `axes`; the window's own axes are
                                               // appended behind x's, as in sliding_window_view
    std::vector<Expression> stride, padding, dilation;  // convolution: one a spatial axis
    Expression groups = 1;                              // convolution
    std::shared_ptr<const Repeat> loop;                 // repeat
    int result = 0;                                     // repeat: which of the body's outputs
};

struct Graph {
    std::vector<Node> nodes;          // topological order
    std::vector<int> outputs;         // node ids, in the problem's order of outputs
    std::string untraceable;          // non-empty: why there is no graph ("'cumsum' is not traced")
    std::vector<Expression> require;  // that it takes for granted of all sizes: "T >= 4"

    const Node& at(int id) const { return nodes.at(static_cast<size_t>(id)); }
    std::vector<int> users(int id) const;
};

// A loop of `count` steps. Its results are nodes that have the loop and the operands in common: the state `result`
// after the last step (its first value where there is no step), or the values of all steps along a new first axis.
struct Repeat {
    Graph body;        // of one step. The op of an input is the operand that it stands for: "0", "1", ...
    std::string step;  // a symbol of the body's expressions, but not of its shapes: 0 to count - 1
    Expression count;
    // As many of the first operands are what states are before the first step. In the body these inputs are what the
    // step before has left, and the first outputs of the body are what this step leaves, of the same shapes and types.
    // Its further outputs are values that may be stacked.
    int states = 0;
};
using LoopKey = std::pair<const Repeat*, std::vector<int>>;
LoopKey loop_of(const Node& node);
bool are_of_one_loop(const Node& a, const Node& b);
bool has_loops(const Graph& graph);
// Puts another loop in the place of each; results of one loop share the new one.
void change_loops(Graph& graph, const std::function<Repeat(const Repeat&)>& changed);

// With other symbols in its expressions; the step of a loop in it stays.
Graph with_symbols(Graph graph, const std::map<std::string, Expression>& symbols);

// The dimensions and integer parameters of all its expressions, and its parameters.
std::set<std::string> symbols_of(const Graph& graph);

// From the tracer's document: {"untraceable": "..."} or {"nodes": [{"family", "op", "operands", "shape", "dtype",
// and the attributes under the field names above}], "outputs": [ids]};
// infinities and NaN are the texts "inf", "-inf", "nan"; of a loop "body", "step", "count", "states", "result".
// UsageError when malformed.
Graph parse_graph(const std::string& json_text);

// Removes what nobody uses, folds constants, merges equal nodes, drops layout operations that change nothing,
// rewrites to one spelling (x*x and x**2 become square, x/sqrt(y) stays, a - b with constant b becomes add, 1/x
// becomes reciprocal, keepdims reductions followed by broadcasting look alike, mean is sum times 1/n),
// and raises pad+window+slice+contraction into convolution. Same values, other nodes.
Graph simplify(const Graph& graph);

// One line a node, for tests and for `strop show`.
std::string describe(const Graph& graph);

}  // namespace strop
