#include "graph/rank.h"

#include <set>

#include "graph/rewrite.h"

namespace strop {

namespace {

size_t index(int axis) { return static_cast<size_t>(axis); }

// What a reshape that only inserts axes of extent 1 shows.
int without_unit_axes(const Graph& graph, int id) {
    const Node& node = graph.at(id);
    const bool inserts = node.family == Family::layout && node.op == "reshape" &&
                         unit_insertion(graph.at(node.operands[0]).shape, node.shape);
    return inserts ? node.operands[0] : id;
}

// Leading axes of extent 1 may be left out.
bool is_one(const Graph& graph, int id, size_t from_the_end) {
    const Shape& shape = graph.at(id).shape;
    return shape.size() <= from_the_end || shape[shape.size() - 1 - from_the_end].is_literal(1);
}

// Whether these show a value as [..., 1, N] and as [..., N, 1].
bool are_all_pairs(const Graph& graph, int other, int one, int source) {
    return without_unit_axes(graph, other) == source && without_unit_axes(graph, one) == source &&
           is_one(graph, other, 1) && is_one(graph, one, 0);
}

// Whether it is the other element that comes first in memory: iota [N] less than iota [N, 1].
bool is_earlier(const Graph& graph, const Node& node) {
    if (node.op != "less") return false;
    const int other = without_unit_axes(graph, node.operands[0]), one = without_unit_axes(graph, node.operands[1]);
    const Node& places = graph.at(other);
    return other == one && places.family == Family::iota && places.shape.size() == 1 &&
           graph.at(node.operands[0]).shape.size() == 1 && is_one(graph, node.operands[1], 0) &&
           graph.at(node.operands[1]).shape.size() == 2;
}

}  // namespace

std::optional<Rank> rank_of(const Graph& graph, const Node& reduction) {
    if (reduction.family != Family::reduction || reduction.op != "sum" || reduction.axes.size() != 1 ||
        reduction.keepdims)
        return std::nullopt;
    const Node& counted = graph.at(reduction.operands[0]);
    if (static_cast<size_t>(reduction.axes[0]) + 1 != counted.shape.size() || counted.op != "cast") return std::nullopt;
    const Node& either = graph.at(counted.operands[0]);
    if (either.op != "logical_or") return std::nullopt;
    for (size_t first : {0, 1}) {
        const Node& before = graph.at(either.operands[first]);
        const Node& tied = graph.at(either.operands[1 - first]);
        if ((before.op != "less" && before.op != "greater") || tied.op != "logical_and") continue;
        const int source = without_unit_axes(graph, before.operands[0]);
        if (!are_all_pairs(graph, before.operands[0], before.operands[1], source) ||
            !(graph.at(source).shape == reduction.shape))
            continue;
        for (size_t second : {0, 1}) {
            const Node& equal = graph.at(tied.operands[second]);
            if (equal.op != "equal" || !is_earlier(graph, graph.at(tied.operands[1 - second]))) continue;
            if (are_all_pairs(graph, equal.operands[0], equal.operands[1], source) ||
                are_all_pairs(graph, equal.operands[1], equal.operands[0], source))
                return Rank{source, before.op == "greater", {}};
        }
    }
    return std::nullopt;
}

namespace {

// The places at which a scatter writes; all from the limit on may be one.
std::optional<Rank> limited_rank(const Graph& graph, const Node& node) {
    if (node.op != "minimum") return rank_of(graph, node);
    for (size_t k : {0, 1}) {
        const Node& limit = graph.at(node.operands[1 - k]);
        std::optional<Rank> rank = rank_of(graph, graph.at(node.operands[k]));
        if (!rank || limit.family != Family::constant) continue;
        rank->limit = limit.dim.value_or(Expression(static_cast<int64_t>(limit.value)));
        return rank;
    }
    return std::nullopt;
}

}  // namespace

bool is_count_along_rows(const Graph& graph, const Node& node) {
    if (node.family == Family::iota) return !node.shape.empty() && index(node.axes.at(0)) + 1 == node.shape.size();
    if (node.family != Family::layout || node.op != "broadcast") return false;
    const Node& source = graph.at(node.operands[0]);
    return !source.shape.empty() && source.shape.back() == node.shape.back() && is_count_along_rows(graph, source);
}

bool writes_rows(const Graph& graph, const Node& scatter) {
    if (scatter.family != Family::scatter || scatter.op != "sum" ||
        index(scatter.axes.at(0)) + 1 != scatter.shape.size())
        return false;
    const Node* target = &graph.at(scatter.operands[0]);
    while (target->op == "broadcast") target = &graph.at(target->operands[0]);
    return target->family == Family::constant && !target->dim && target->value == 0;
}

std::optional<Rank> order_of(const Graph& graph, const Node& scatter) {
    if (!writes_rows(graph, scatter)) return std::nullopt;
    const Node& places = graph.at(scatter.operands[1]);
    const std::optional<Rank> rank = limited_rank(graph, places);
    if (!rank || !is_count_along_rows(graph, graph.at(scatter.operands[2]))) return std::nullopt;
    const Shape& source = graph.at(rank->source).shape;
    if (!(places.shape == source) || !(graph.at(scatter.operands[2]).shape == source)) return std::nullopt;
    return rank;
}

std::optional<Sorted> sorted_of(const Graph& graph, const Node& gather) {
    if (gather.op != "take_along" || index(gather.axes.at(0)) + 1 != gather.shape.size()) return std::nullopt;
    const Node* places = &graph.at(gather.operands[1]);
    Expression begin = 0, end = places->shape.back();
    if (places->op == "slice") {
        if (!places->step.back().is_literal(1)) return std::nullopt;
        begin = places->begin.back();
        end = places->end.back();
        const Node& all = graph.at(places->operands[0]);
        for (size_t axis = 0; axis + 1 < all.shape.size(); ++axis)
            if (!(all.shape[axis] == places->shape[axis])) return std::nullopt;
        places = &all;
    }
    const std::optional<Rank> rank = order_of(graph, *places);
    if (!rank || rank->source != gather.operands[0]) return std::nullopt;
    return Sorted{*rank, begin, end};
}

std::vector<int> parts_of_sort(const Graph& graph, const Node& node) {
    std::optional<Rank> rank = rank_of(graph, node);
    if (!rank) rank = order_of(graph, node);
    if (!rank)
        if (const std::optional<Sorted> sorted = sorted_of(graph, node)) rank = sorted->rank;
    if (!rank) return {};
    std::set<int> parts;
    auto walk = [&](auto&& self, int id) -> void {
        if (id == rank->source || !parts.insert(id).second) return;
        for (int operand : graph.at(id).operands) self(self, operand);
    };
    for (int operand : node.operands) walk(walk, operand);
    for (int output : graph.outputs)
        if (parts.contains(output)) return {};
    for (int id : parts) {
        const Node& part = graph.at(id);
        const bool holds_places = part.family == Family::reduction || part.family == Family::scatter ||
                                  part.op == "minimum" || part.op == "slice";
        if (!holds_places) continue;
        for (int user : graph.users(id))
            if (user != node.id && !parts.contains(user)) return {};
    }
    return {parts.begin(), parts.end()};
}

}  // namespace strop
