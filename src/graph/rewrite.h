// Building blocks of simplify: a graph under construction that never holds a node twice, and the two
// rewriters.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace strop {

using Shape = std::vector<Expression>;

Shape broadcast(const std::vector<Shape>& shapes);  // right-aligned, as in NumPy
bool is_permutation_identity(const std::vector<int>& axes);
size_t long_axes(const Shape& shape);  // how many have another extent than a literal 1
std::vector<int> inverse(const std::vector<int>& permutation);
// The axes of `longer` that hold `shorter`'s extents, when the others are 1 (reshape inserts or removes unit
// axes).
std::optional<std::vector<size_t>> unit_insertion(const Shape& shorter, const Shape& longer);

// Whether `outer` is `inner` behind axes of extent 1.
bool only_leading_ones(const Shape& inner, const Shape& outer);

// A slice of all of a value, to be cut further.
Node whole_slice(const Node& source);
// A layout of a value: "reshape", "broadcast".
Node laid_out(const Node& source, const std::string& op, const Shape& shape);
// A copy of a value, perhaps in another type.
Node copied(const Node& source, DType dtype);

// Whether both have one value at several assignments of their symbols: for products that are written
// differently.
bool same_value(const Expression& a, const Expression& b);
// The ends of the shortest runs of axes, from i and j on, that have the same number of positions in both shapes: what a
// reshape does to the places in one run does not depend on the others.
std::pair<size_t, size_t> next_run_of_axes(const Shape& to, size_t i, const Shape& from, size_t j);

// One text a node that holds everything but its id; equal texts mean equal values.
std::string describe_node(const Node& node);

class GraphWriter {
public:
    // The id of this node, or of an equal one. Operands must be ids of this graph.
    int add(Node node);
    const Node& at(int id) const { return nodes_[static_cast<size_t>(id)]; }  // stays valid
    // Does not depend on ids, so that it orders operands alike in formulas written differently.
    const std::string& digest(int id) const { return digests_[static_cast<size_t>(id)]; }

    int constant(double value, DType dtype);
    int pointwise(const std::string& op, const std::vector<int>& operands, DType dtype);
    int reshape(int id, const Shape& shape);
    int transpose(int id, const std::vector<int>& permutation);

    // What the outputs need, numbered by a walk from the outputs.
    Graph finish(const std::vector<int>& outputs) const;

private:
    std::deque<Node> nodes_;
    std::map<std::string, int> known_;
    std::vector<std::string> digests_;
};

// One bottom-up pass of local rewrites.
Graph rewrite_once(const Graph& graph);

// Turns contractions of a sliding window with filters into convolutions.
Graph raise_convolutions(const Graph& graph);

}  // namespace strop
