#include "playbook/free_nodes.h"

#include <algorithm>
#include <set>
#include <string>

#include "graph/operations.h"
#include "graph/rank.h"
#include "graph/rewrite.h"
#include "playbook/values_in_place.h"

namespace strop::playbook {

namespace {

size_t at(int id) { return static_cast<size_t>(id); }

// Known without reading an array: masks, scalars.
bool is_generated(const Graph& graph, const Node& node, const std::vector<char>& generated) {
    if (is_leaf(node)) return node.family != Family::input;
    bool movable = node.family == Family::pointwise || is_view(graph, node);
    return movable &&
           std::all_of(node.operands.begin(), node.operands.end(), [&](int id) { return generated[at(id)]; });
}

// By several, in loops of their own, and by nobody outside.
bool is_read_in_loops(const Graph& graph, const Node& node, const std::vector<int>& users) {
    return users.size() > 1 && std::count(graph.outputs.begin(), graph.outputs.end(), node.id) == 0 &&
           std::all_of(users.begin(), users.end(), [&](int user) {
               const Family family = graph.at(user).family;
               return family == Family::pointwise || family == Family::reduction;
           });
}

// An addition or so to an input, with operands that are smaller: to read the input again takes no longer than to read
// the sum, and it need not be written. Of a single reader it is part anyway.
bool is_cheap_again(const Graph& graph, const Node& node) {
    static const std::set<std::string> cheap = {"add", "subtract", "multiply", "negative"};
    if (!cheap.contains(node.op) || !is_floating(node.dtype)) return false;
    int whole = 0;
    for (int id : node.operands) {
        const Node& operand = graph.at(id);
        if (long_axes(operand.shape) < long_axes(node.shape)) continue;
        if (operand.family != Family::input || operand.dtype != node.dtype) return false;
        ++whole;
    }
    return whole == 1;
}

// The operations between a value and what it is made of, if that has fewer axes (the distance of each two of N and M
// points) and the operations are few: to compute them again takes no longer than to read the value. Empty if not.
std::vector<int> outer_formula(const Graph& graph, const Node& value) {
    constexpr double few = 16;  // additions
    std::vector<int> formula;
    double cost = 0;
    auto walk = [&](auto&& self, int id) -> bool {
        const Node& node = graph.at(id);
        if (is_leaf(node) && node.family != Family::input) return true;
        if (long_axes(node.shape) < long_axes(value.shape)) return true;
        const bool inside = node.family == Family::pointwise && is_floating(node.dtype);
        if (!inside && !is_view(graph, node)) return false;
        if (inside) cost += operation_of(node)->cost;
        if (inside) formula.push_back(id);
        return cost <= few &&
               std::all_of(node.operands.begin(), node.operands.end(), [&](int one) { return self(self, one); });
    };
    return walk(walk, value.id) ? formula : std::vector<int>{};
}

// Tables: what is known without reading an array, takes long to compute, and is the same for several elements of its
// reader, as the sines of positions are for all heads. It is computed once and stored.
void store_tables(const Graph& graph, const std::vector<char>& generated, std::vector<char>& free) {
    constexpr double dear = 20, most = 1000;  // additions: a sine, a power
    std::vector<double> cost(graph.nodes.size());
    for (const Node& node : graph.nodes) {
        if (!generated[at(node.id)]) continue;
        if (node.family == Family::pointwise) cost[at(node.id)] = operation_of(node)->cost;
        for (int id : node.operands) cost[at(node.id)] = std::min(most, cost[at(node.id)] + cost[at(id)]);
    }
    for (const Node& reader : graph.nodes) {
        const bool product = reader.family == Family::contraction || reader.family == Family::convolution;
        if (!product && reader.family != Family::pointwise && reader.family != Family::reduction) continue;
        auto look = [&](auto&& self, int id) -> void {
            const Node& node = graph.at(id);
            if (!generated[at(id)] || cost[at(id)] < dear) return;
            if (is_view(graph, node))
                for (int operand : node.operands) self(self, operand);
            const size_t axes = long_axes(node.shape);
            if (node.family == Family::pointwise && is_floating(node.dtype) && axes > 0 &&
                (product || axes < long_axes(reader.shape)))
                free[at(id)] = 0;
        };
        for (int id : reader.operands) look(look, id);
    }
}

}  // namespace

bool is_leaf(const Node& node) {
    return node.family == Family::input || node.family == Family::parameter || node.family == Family::constant ||
           node.family == Family::iota;
}

std::vector<char> free_nodes(const Graph& graph) {
    std::vector<char> generated(graph.nodes.size()), free(graph.nodes.size());
    std::vector<std::vector<int>> users(graph.nodes.size());
    for (const Node& node : graph.nodes)
        for (int operand : std::set<int>(node.operands.begin(), node.operands.end()))
            users[at(operand)].push_back(node.id);
    for (const Node& node : graph.nodes) {
        generated[at(node.id)] = is_generated(graph, node, generated);
        free[at(node.id)] = is_leaf(node) || generated[at(node.id)] || is_view(graph, node);
        for (int id : parts_of_sort(graph, node)) free[at(id)] = 1;  // by which it is recognised
        if (node.family != Family::pointwise || !is_read_in_loops(graph, node, users[at(node.id)])) continue;
        if (is_cheap_again(graph, node)) free[at(node.id)] = 1;
        for (int id : outer_formula(graph, node)) free[at(id)] = 1;
    }
    store_tables(graph, generated, free);
    for (const Node& node : graph.nodes)  // a loop begins with what is in memory
        for (size_t k = 0; node.loop && k < at(node.loop->states); ++k)
            if (graph.at(node.operands[k]).family != Family::input) free[at(node.operands[k])] = 0;
    return free;
}

}  // namespace strop::playbook
