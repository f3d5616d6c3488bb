#include "playbook/operand_copies.h"

#include <functional>
#include <map>
#include <set>

#include "playbook/contraction_form.h"
#include "playbook/values_in_place.h"

namespace strop::playbook {

namespace {

// With a copy of each operand of which `wants(user, operand)` holds; one for all who want it.
Graph with_copies(const Graph& graph, const std::function<bool(const Node&, int)>& wants) {
    Graph result;
    std::map<int, int> places, copies;  // of the graph's nodes
    auto append = [&](Node node) {
        node.id = static_cast<int>(result.nodes.size());
        result.nodes.push_back(std::move(node));
        return result.nodes.back().id;
    };
    for (const Node& node : graph.nodes) {
        Node user = node;
        for (int& operand : user.operands) {
            const Node& original = graph.at(operand);
            operand = places.at(original.id);
            if (!wants(node, original.id)) continue;
            if (!copies.contains(original.id)) {
                Node copy;
                copy.family = Family::pointwise;
                copy.op = "cast";
                copy.operands = {operand};
                copy.shape = original.shape;
                copy.dtype = original.dtype;
                copies[original.id] = append(std::move(copy));
            }
            operand = copies.at(original.id);
        }
        places[node.id] = append(std::move(user));
    }
    for (int id : graph.outputs) result.outputs.push_back(places.at(id));
    return result;
}

}  // namespace

Graph widened_operands(const Problem& problem, const Graph& graph) {
    std::set<std::string> halves;
    for (const Tensor& input : problem.inputs)
        if (is_half(input.dtype)) halves.insert(input.name);
    if (halves.empty()) return graph;
    std::set<int> convolved;  // inputs that a convolution reads, perhaps through views
    auto find = [&](auto&& self, int id) -> void {
        const Node& node = graph.at(id);
        if (node.family == Family::input && halves.contains(node.op)) convolved.insert(id);
        if (node.family == Family::layout)
            for (int operand : node.operands) self(self, operand);
    };
    for (const Node& node : graph.nodes)
        if (node.family == Family::convolution)
            for (int operand : node.operands) find(find, operand);
    return with_copies(graph, [&](const Node&, int operand) { return convolved.contains(operand); });
}

Graph arranged_operands(const Graph& graph) {
    auto lies_otherwise = [&](auto&& self, int id) -> bool {
        const Node& node = graph.at(id);
        if (!is_view(graph, node)) return false;  // what is no view is stored, in its own order
        return node.op == "reverse" || node.op == "slice" || node.op == "transpose" || self(self, node.operands[0]);
    };
    return with_copies(graph, [&](const Node& user, int operand) {
        if (user.family == Family::contraction)
            return is_view(graph, graph.at(operand)) && !lies_in_strides(graph, operand);
        return user.family == Family::convolution && lies_otherwise(lies_otherwise, operand);
    });
}

}  // namespace strop::playbook
