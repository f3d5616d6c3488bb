#include "graph/expand_scatters.h"

#include <algorithm>

#include "graph/operations.h"
#include "graph/rewrite.h"

namespace strop {

namespace {

class Expander {
public:
    explicit Expander(const Graph& graph) : graph_(graph) {}

    Graph run() {
        for (const Node& node : graph_.nodes) {
            Node copy = node;
            for (int& operand : copy.operands) operand = places_[static_cast<size_t>(operand)];
            places_.push_back(node.family == Family::scatter ? expanded(copy) : result_.add(std::move(copy)));
        }
        std::vector<int> outputs;
        for (int id : graph_.outputs) outputs.push_back(places_[static_cast<size_t>(id)]);
        return result_.finish(outputs);
    }

private:
    // target op reduce(where(index == place, source, neutral)), with an axis of places before that of the sources.
    int expanded(const Node& node) {
        const size_t axis = static_cast<size_t>(node.axes[0]);
        const Node target = result_.at(node.operands[0]), indices = result_.at(node.operands[1]);
        auto with_axis = [&](int id) {
            Shape shape = result_.at(id).shape;
            shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), Expression(1));
            return result_.reshape(id, shape);
        };
        Node places;
        places.family = Family::iota;
        places.dtype = DType::int64;
        places.shape.assign(target.shape.size() + 1, Expression(1));
        places.shape[axis] = target.shape[axis];
        places.axes = {static_cast<int>(axis)};
        const int hit = result_.pointwise("equal", {with_axis(indices.id), result_.add(places)}, DType::boolean);
        const double start = find_operation(Family::reduction, node.op)->start;
        const int neutral = result_.constant(start, node.dtype);
        const int chosen = result_.pointwise("where", {hit, with_axis(node.operands[2]), neutral}, node.dtype);
        Node folded;
        folded.family = Family::reduction;
        folded.op = node.op;
        folded.operands = {chosen};
        folded.axes = {static_cast<int>(axis) + 1};
        folded.dtype = node.dtype;
        folded.shape = target.shape;
        const char* combine = node.op == "sum" ? "add" : node.op == "max" ? "maximum" : "minimum";
        return result_.pointwise(combine, {target.id, result_.add(std::move(folded))}, node.dtype);
    }

    const Graph& graph_;
    std::vector<int> places_;
    GraphWriter result_;
};

}  // namespace

Graph expand_scatters(const Graph& graph) {
    const bool any = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [](const Node& node) { return node.family == Family::scatter; });
    return any ? Expander(graph).run() : graph;
}

}  // namespace strop
