#include "graph/rank.h"

#include <set>

#include "graph/rewrite.h"

namespace strop {

namespace {

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

std::optional<Rank> rank_of_reduction(const Graph& graph, const Node& reduction) {
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

}  // namespace

std::optional<Rank> rank_of(const Graph& graph, const Node& node) {
    if (node.op != "minimum") return rank_of_reduction(graph, node);
    for (size_t k : {0, 1}) {
        const Node& limit = graph.at(node.operands[1 - k]);
        if (limit.family != Family::constant) continue;
        std::optional<Rank> rank = rank_of_reduction(graph, graph.at(node.operands[k]));
        if (rank) rank->limit = limit.dim.value_or(Expression(static_cast<int64_t>(limit.value)));
        return rank;
    }
    return std::nullopt;
}

std::vector<int> comparisons_of(const Graph& graph, const Node& reduction) {
    const std::optional<Rank> rank = rank_of_reduction(graph, reduction);
    if (!rank) return {};
    std::set<int> between;
    auto walk = [&](auto&& self, int id) -> void {
        if (id == rank->source || !between.insert(id).second) return;
        for (int operand : graph.at(id).operands) self(self, operand);
    };
    walk(walk, reduction.operands[0]);
    for (int output : graph.outputs)
        if (between.contains(output)) return {};
    return {between.begin(), between.end()};
}

}  // namespace strop
