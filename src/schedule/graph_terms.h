// Values of a graph as terms of a launch: layouts become indexes, so that no element moves.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "schedule/term.h"

namespace strop::schedule {

using Index = std::vector<Expression>;

// The axes' positions of `to` (a reshape of `from`) as an index into `from`, element by element in row-major
// order.
Index regrouped(const Index& index, const std::vector<Expression>& to, const std::vector<Expression>& from);

// A position in all of these axes together as an index, row-major.
Index unflattened(const Expression& place, const std::vector<Expression>& shape);
Expression product_of(const std::vector<Expression>& extents);

class GraphTerms {
public:
    // Inputs are loaded from tensors of their names.
    GraphTerms(const Graph& graph, std::vector<Term>& terms) : graph_(graph), terms_(terms) {}

    // The element of a node at this index, one expression per axis.
    int at(int node, const Index& index);
    // Results of steps: this node is known by that name wherever it is asked for at this index.
    void know(int node, const Index& index, const std::string& name);
    // `position`: of all elements of a tensor of this shape. An element at its unflattened index is loaded at
    // `position`.
    void flatten(const Expression& position, const std::vector<Expression>& shape) {
        flat_ = {position, shape, unflattened(position, shape)};
        terms_of_.clear();
    }

    // The index into a tensor of this shape, or the position of the flattened tensor that it is.
    Index place_of(const Index& index, const std::vector<Expression>& shape) const {
        return index.size() > 1 && shape == flat_.shape && index == flat_.index ? Index{flat_.position} : index;
    }

    int number(double value, DType dtype);
    int index(const Expression& expression, DType dtype);
    int load(const std::string& tensor, DType dtype, const Index& index);
    int result(const std::string& name, DType dtype);
    int pointwise(const std::string& op, std::vector<int> operands, DType dtype);
    int guarded(const Expression& condition, int inside, int outside);

    // Non-empty: a node has no such term, and why.
    const std::string& lacks() const { return lacks_; }

private:
    struct Result {
        Index index;
        std::string name;
    };

    int add(Term term);
    int made(const Node& node, const Index& index);
    int missing(const std::string& what);
    int spread(const Node& node, const Index& index);
    int layout(const Node& node, const Index& index);
    int padded(const Node& node, const Index& index);
    int joined(const Node& node, const Index& index);
    int gathered(const Node& node, const Index& index);

    const Graph& graph_;
    std::vector<Term>& terms_;
    std::map<std::string, int> known_;
    std::map<int, Result> results_;
    std::map<std::pair<int, Index>, int> terms_of_;  // nodes are used many times: a chain of n squares is 2^n paths
    struct Flat {
        Expression position;
        std::vector<Expression> shape;
        Index index;
    };
    Flat flat_;
    std::string lacks_;
};

}  // namespace strop::schedule
