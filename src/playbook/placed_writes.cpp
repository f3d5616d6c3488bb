#include "playbook/placed_writes.h"

#include <algorithm>

#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

using Shape = std::vector<Expression>;
using Places = std::vector<std::optional<Place>>;

class Writes {
public:
    Writes(Graph& graph, int state) : graph_(graph), state_(state), rank_(graph.at(state).shape.size()) {}

    // False: `next` is not made by writes.
    bool find(int next) {
        if (next == state_) return true;
        const Node node = graph_.at(next);
        if (node.family != Family::pointwise || node.op != "where" || node.shape != graph_.at(state_).shape)
            return false;
        const int condition = node.operands[0], value = node.operands[1], before = node.operands[2];
        std::vector<int> rest;
        Places places(rank_);
        split(condition, places, rest);
        const bool placed =
            std::any_of(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
        if (placed) return find(before) && write(places, value, rest, before);
        if (before == state_) return find(value) && hold_back(condition);
        return find_in_both(condition, value, before);
    }

    std::vector<PlacedWrite> all;

private:
    // Of what lines up with the state's axes from the last one on.
    Expression extent(const Shape& shape, size_t axis) const {
        const size_t missing = rank_ - shape.size();
        return axis < missing ? Expression(1) : shape[axis - missing];
    }

    // Into the axes that have one place each, and what else has to hold.
    void split(int condition, Places& places, std::vector<int>& rest) {
        const Node& node = graph_.at(condition);
        if (node.family == Family::pointwise && node.op == "logical_and") {
            const std::vector<int> operands = node.operands;
            for (int operand : operands) split(operand, places, rest);
            return;
        }
        if (node.family == Family::pointwise && node.op == "equal")
            for (size_t side : {0, 1}) {
                const std::optional<size_t> axis = counted_axis(node.operands[side]);
                const std::optional<Place> place = place_of(node.operands[1 - side]);
                if (!axis || !place || places[*axis]) continue;
                places[*axis] = place;
                return;
            }
        rest.push_back(condition);
    }

    // The axis whose index this is.
    std::optional<size_t> counted_axis(int id) const {
        const Shape& shape = graph_.at(id).shape;
        if (shape.size() > rank_) return {};
        const Node* node = &graph_.at(id);
        while (node->family == Family::layout && (node->op == "reshape" || node->op == "broadcast"))
            node = &graph_.at(node->operands[0]);
        if (node->family != Family::iota || node->shape.size() != 1) return {};
        std::optional<size_t> found;
        for (size_t axis = 0; axis < rank_; ++axis) {
            if (extent(shape, axis).is_literal(1)) continue;
            if (found || extent(shape, axis) != node->shape[0] || extent(shape, axis) != graph_.at(state_).shape[axis])
                return {};
            found = axis;
        }
        return found;
    }

    std::optional<Place> place_of(int id) const {
        const Node& node = graph_.at(id);
        if (!node.shape.empty() || node.dtype != DType::int64) return {};
        if (node.family != Family::constant) return Place{0, id};
        return Place{node.dim ? *node.dim : Expression(static_cast<int64_t>(node.value)), -1};
    }

    bool varies_at_a_place(int id, const Places& places) const {
        for (size_t axis = 0; axis < rank_; ++axis)
            if (places[axis] && !extent(graph_.at(id).shape, axis).is_literal(1)) return true;
        return false;
    }

    // `before`: what earlier writes of the step have left, which stays where a condition does not hold.
    bool write(const Places& places, int value, const std::vector<int>& rest, int before) {
        if (varies_at_a_place(value, places) || graph_.at(value).dtype != graph_.at(state_).dtype) return false;
        for (int condition : rest)
            if (varies_at_a_place(condition, places)) return false;
        const int old = rest.empty() ? -1 : read(before, places);
        for (int condition : rest) value = chosen(condition, value, old);
        all.push_back({places, shaped(value, places)});
        return true;
    }

    // Writes to the same places on both sides of a condition.
    bool find_in_both(int condition, int yes, int no) {
        Writes one(graph_, state_), other(graph_, state_);
        const bool found = graph_.at(condition).shape.empty() && one.find(yes) && other.find(no);
        if (!found || one.all.size() != 1 || other.all.size() != 1 || one.all[0].places != other.all[0].places)
            return false;
        all = {{one.all[0].places, chosen(condition, one.all[0].value, other.all[0].value)}};
        return true;
    }

    // Where the condition does not hold, nothing is written. Later writes find what earlier ones have held back, too.
    bool hold_back(int condition) {
        if (!graph_.at(condition).shape.empty()) return false;
        for (PlacedWrite& one : all) one.value = chosen(condition, one.value, read(state_, one.places));
        return true;
    }

    // What the state has there, or what writes have made of it.
    int read(int source, const Places& places) {
        Node slice = whole_slice(graph_.at(source));
        for (size_t axis = 0; axis < rank_; ++axis) {
            if (!places[axis] || places[axis]->node >= 0) continue;
            slice.begin[axis] = places[axis]->at;
            slice.end[axis] = places[axis]->at + 1;
            slice.shape[axis] = 1;
        }
        int found = append(std::move(slice));
        for (size_t axis = 0; axis < rank_; ++axis)
            if (places[axis] && places[axis]->node >= 0) found = taken(found, axis, places[axis]->node);
        return found;
    }

    // At a computed place; where that lies outside of the axis, anything.
    int taken(int source, size_t axis, int place) {
        Node last;
        last.family = Family::constant;
        last.dim = graph_.at(source).shape[axis] - 1;
        last.dtype = DType::int64;
        Node first;
        first.family = Family::constant;
        first.dtype = DType::int64;
        const int inside = pointwise("maximum", {pointwise("minimum", {place, append(last)}), append(first)});
        const Node index = laid_out(graph_.at(inside), "reshape", {Expression(1)});
        Node take;
        take.family = Family::gather;
        take.op = "take";
        take.operands = {source, append(index)};
        take.axes = {static_cast<int>(axis)};
        take.shape = graph_.at(source).shape;
        take.shape[axis] = 1;
        take.dtype = graph_.at(source).dtype;
        return append(take);
    }

    int pointwise(const std::string& op, std::vector<int> operands) {
        Node node;
        node.family = Family::pointwise;
        node.op = op;
        node.operands = std::move(operands);
        node.dtype = DType::int64;
        return append(node);
    }

    int chosen(int condition, int value, int old) {
        Node node;
        node.family = Family::pointwise;
        node.op = "where";
        node.operands = {condition, value, old};
        node.shape = graph_.at(old).shape;
        node.dtype = graph_.at(state_).dtype;
        return append(std::move(node));
    }

    int shaped(int value, const Places& places) {
        const Shape shape = written_shape(graph_.at(state_).shape, places);
        if (graph_.at(value).shape == shape) return value;
        return append(laid_out(graph_.at(value), "broadcast", shape));
    }

    int append(Node node) {
        node.id = static_cast<int>(graph_.nodes.size());
        graph_.nodes.push_back(std::move(node));
        return graph_.nodes.back().id;
    }

    Graph& graph_;
    int state_;
    size_t rank_;
};

}  // namespace

std::vector<Expression> written_shape(std::vector<Expression> state, const Places& places) {
    for (size_t axis = 0; axis < state.size(); ++axis)
        if (places[axis]) state[axis] = 1;
    return state;
}

std::optional<std::vector<PlacedWrite>> placed_writes(Graph& graph, int next, int state) {
    Writes writes(graph, state);
    if (!writes.find(next) || graph.at(next).dtype != graph.at(state).dtype) return std::nullopt;
    return writes.all;
}

}  // namespace strop::playbook
