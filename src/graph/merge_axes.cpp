#include "graph/merge_axes.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/operations.h"
#include "graph/rewrite.h"

namespace strop {

namespace {

using Ids = std::vector<int>;  // of axes; those of extent 1 have none

// Which axes are one and the same, across all values.
class Axes {
public:
    explicit Axes(const Graph& graph) : graph_(graph) {
        for (const Node& node : graph.nodes) {
            if (!fits_) return;
            places_.push_back(ids_of(node));
        }
    }

    // Not where one axis is a value's twice, as of x[:, None] - x: what is where in it is not told by the axes.
    bool fit() const {
        return fits_ && std::none_of(graph_.nodes.begin(), graph_.nodes.end(), [&](const Node& node) {
                   const Ids ids = of(node.id);
                   return std::set<int>(ids.begin(), ids.end()).size() < ids.size();
               });
    }
    // Of a node's axes but those of extent 1, in their order.
    Ids of(int id) const {
        Ids result;
        for (int axis : places_[static_cast<size_t>(id)])
            if (axis >= 0) result.push_back(root(axis));
        return result;
    }
    // Of one of its axes; -1 where the extent is 1.
    int at(int id, size_t axis) const {
        const int known = places_[static_cast<size_t>(id)][axis];
        return known < 0 ? -1 : root(known);
    }
    bool is_kept_apart(int axis) const {
        return std::any_of(apart_.begin(), apart_.end(), [&](int other) { return root(other) == axis; });
    }

private:
    int root(int axis) const {
        while (parents_[static_cast<size_t>(axis)] != axis) axis = parents_[static_cast<size_t>(axis)];
        return axis;
    }
    int fresh() {
        parents_.push_back(static_cast<int>(parents_.size()));
        return parents_.back();
    }
    void unite(int a, int b) { parents_[static_cast<size_t>(root(a))] = root(b); }

    // New ones for all axes that are not `known` to be another value's.
    Ids filled(const Node& node, Ids known = {}) {
        known.resize(node.shape.size(), -1);
        for (size_t axis = 0; axis < known.size(); ++axis)
            if (node.shape[axis].is_literal(1)) known[axis] = -1;
            else if (known[axis] < 0) known[axis] = fresh();
        return known;
    }

    Ids give_up() {
        fits_ = false;
        return {};
    }

    Ids ids_of(const Node& node) {
        switch (node.family) {
            case Family::input:
            case Family::parameter:
            case Family::constant: return filled(node);
            case Family::pointwise: return aligned(node);
            case Family::reduction: return reduced(node);
            case Family::layout: return moved(node);
            default: return give_up();
        }
    }

    Ids aligned(const Node& node) {
        Ids ids(node.shape.size(), -1);
        for (int operand : node.operands) {
            const Ids& from = places_[static_cast<size_t>(operand)];
            const size_t added = ids.size() - from.size();
            for (size_t axis = 0; axis < from.size(); ++axis) {
                if (from[axis] < 0) continue;
                int& id = ids[axis + added];
                if (id < 0) id = from[axis];
                else unite(id, from[axis]);
            }
        }
        return filled(node, ids);
    }

    Ids reduced(const Node& node) {
        const Ids& from = places_[static_cast<size_t>(node.operands[0])];
        const bool place = !operation_of(node)->in_double;  // its result counts along the axis
        Ids ids;
        bool any = false;
        for (size_t axis = 0; axis < from.size(); ++axis) {
            const bool gone = std::count(node.axes.begin(), node.axes.end(), static_cast<int>(axis)) > 0;
            any = any || (gone && from[axis] >= 0);
            if (gone && place && from[axis] >= 0) apart_.push_back(from[axis]);
            if (!gone) ids.push_back(from[axis]);
            else if (node.keepdims) ids.push_back(-1);
        }
        return any ? filled(node, ids) : give_up();
    }

    Ids moved(const Node& node) {
        const Ids from = places_[static_cast<size_t>(node.operands[0])];
        const Shape& source = graph_.at(node.operands[0]).shape;
        Ids ids(node.shape.size(), -1);
        if (node.op == "transpose") {
            for (size_t axis = 0; axis < ids.size(); ++axis) ids[axis] = from[static_cast<size_t>(node.axes[axis])];
        } else if (node.op == "broadcast") {
            std::copy(from.begin(), from.end(), ids.end() - static_cast<std::ptrdiff_t>(from.size()));
        } else if (node.op == "reshape") {
            const auto inserted = unit_insertion(source, node.shape), removed = unit_insertion(node.shape, source);
            if (!inserted && !removed) return give_up();
            const std::vector<size_t>& places = inserted ? *inserted : *removed;
            for (size_t k = 0; k < places.size(); ++k)
                if (inserted) ids[places[k]] = from[k];
                else ids[k] = from[places[k]];
        } else {
            return give_up();
        }
        return filled(node, ids);
    }

    const Graph& graph_;
    bool fits_ = true;
    std::vector<int> parents_;
    std::vector<Ids> places_;
    std::vector<int> apart_;
};

// For each axis the one that follows it in every value that has either; without those that have none.
std::map<int, int> followers(const Graph& graph, const Axes& axes) {
    std::map<int, std::set<int>> after, before;  // -1: the end
    std::set<int> excluded;
    for (const Node& node : graph.nodes) {
        const Ids ids = axes.of(node.id);
        for (size_t k = 0; k < ids.size(); ++k) {
            if (axes.is_kept_apart(ids[k])) excluded.insert(ids[k]);
            after[ids[k]].insert(k + 1 < ids.size() ? ids[k + 1] : -1);
            before[ids[k]].insert(k > 0 ? ids[k - 1] : -1);
        }
    }
    std::map<int, int> result;
    for (const auto& [axis, next] : after) {
        if (next.size() != 1 || *next.begin() < 0 || excluded.contains(axis)) continue;
        const int other = *next.begin();
        if (before[other].size() == 1 && !excluded.contains(other)) result[axis] = other;
    }
    return result;
}

class Merger {
public:
    Merger(const Graph& graph, const Axes& axes, const std::map<int, int>& followers) : graph_(graph), axes_(axes) {
        for (const auto& [axis, next] : followers) leaders_[next] = axis;
    }

    Graph run() {
        for (const Node& node : graph_.nodes) places_.push_back(place(node));
        std::vector<int> outputs;
        for (int id : graph_.outputs) outputs.push_back(places_[static_cast<size_t>(id)]);
        return out_.finish(outputs);
    }

private:
    // Of a node, in the new graph: axes by the first of those that they are made of.
    Ids groups_of(int id) const {
        Ids groups;
        for (int axis : axes_.of(id))
            if (!leaders_.contains(axis)) groups.push_back(axis);
        return groups;
    }

    Shape shape_of(const Node& node) const {
        Shape shape;
        for (size_t axis = 0; axis < node.shape.size(); ++axis) {
            const int id = axes_.at(node.id, axis);
            if (id < 0) continue;
            if (leaders_.contains(id)) shape.back() = shape.back() * node.shape[axis];
            else shape.push_back(node.shape[axis]);
        }
        return shape;
    }

    // With axes of extent 1 where the result has others.
    int aligned(int operand, const Ids& result) {
        const int id = places_[static_cast<size_t>(operand)];
        const Ids own = groups_of(operand);
        if (own.empty()) return id;
        Shape shape;
        size_t next = 0;
        for (int group : result) {
            if (next < own.size() && own[next] == group) shape.push_back(out_.at(id).shape[next++]);
            else if (!shape.empty()) shape.push_back(1);  // leading ones are not needed
        }
        return out_.reshape(id, shape);
    }

    int place(const Node& node) {
        if (node.family == Family::layout && node.op == "reshape")
            return places_[static_cast<size_t>(node.operands[0])];
        Node copy = node;
        copy.shape = shape_of(node);
        const Ids result = groups_of(node.id);
        if (node.family == Family::reduction) {
            const Ids from = groups_of(node.operands[0]);
            const Ids all = axes_of(node);
            copy.operands = {places_[static_cast<size_t>(node.operands[0])]};
            copy.keepdims = false;
            copy.axes.clear();
            for (size_t k = 0; k < from.size(); ++k)
                if (std::count(all.begin(), all.end(), from[k]) > 0) copy.axes.push_back(static_cast<int>(k));
            return out_.add(std::move(copy));
        }
        if (node.family == Family::layout && node.op == "transpose") {
            const Ids from = groups_of(node.operands[0]);
            std::vector<int> permutation;
            for (int group : result)
                permutation.push_back(static_cast<int>(std::find(from.begin(), from.end(), group) - from.begin()));
            return out_.transpose(places_[static_cast<size_t>(node.operands[0])], permutation);
        }
        for (int& operand : copy.operands) operand = aligned(operand, result);
        const bool same = node.family == Family::layout && out_.at(copy.operands[0]).shape == copy.shape;
        return same ? copy.operands[0] : out_.add(std::move(copy));
    }

    // That a reduction takes away.
    Ids axes_of(const Node& node) const {
        Ids result;
        for (int axis : node.axes) result.push_back(axes_.at(node.operands[0], static_cast<size_t>(axis)));
        return result;
    }

    const Graph& graph_;
    const Axes& axes_;
    std::map<int, int> leaders_;  // the axis before, of those that are no first ones
    GraphWriter out_;
    std::vector<int> places_;
};

}  // namespace

Graph merge_axes(const Graph& graph) {
    const Axes axes(graph);
    if (!axes.fit()) return graph;
    const std::map<int, int> next = followers(graph, axes);
    return next.empty() ? graph : Merger(graph, axes, next).run();
}

}  // namespace strop
