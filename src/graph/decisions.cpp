#include "graph/decisions.h"

#include <cmath>

#include "graph/operations.h"

namespace strop {

namespace {

bool decides(const Graph& graph, const Node& node) {
    static const std::set<std::string> all = {
        "floor",   "ceil",          "round", "floor_divide", "remainder", "less", "less_equal",
        "greater", "greater_equal", "equal", "not_equal",    "sin",       "cos",  "tan"};
    if (node.family != Family::pointwise) return false;
    if (node.op == "cast") return is_floating(graph.at(node.operands[0]).dtype) && !is_floating(node.dtype);
    return all.contains(node.op);
}

bool rounds_correctly(const Node& node) {
    static const std::set<std::string> all = {"add",     "subtract", "multiply", "divide", "reciprocal",
                                              "sqrt",    "negative", "absolute", "square", "maximum",
                                              "minimum", "where",    "cast",     "power"};
    return node.family == Family::layout || node.family == Family::gather ||
           (node.family == Family::pointwise && all.contains(node.op));
}

}  // namespace

void mark_decisions(Graph& graph) {
    std::vector<char> exact(graph.nodes.size()), used(graph.nodes.size());
    for (int output : graph.outputs) used[static_cast<size_t>(output)] = 1;
    for (size_t i = graph.nodes.size(); i-- > 0;) {
        Node& node = graph.nodes[i];
        if (!used[i]) continue;
        for (int operand : node.operands) used[static_cast<size_t>(operand)] = 1;
        node.exact = node.exact || (exact[i] && node.family == Family::pointwise && is_floating(node.dtype));
        if (!decides(graph, node) && !(exact[i] && rounds_correctly(node))) continue;
        for (int operand : node.operands) exact[static_cast<size_t>(operand)] = 1;
    }
}

bool is_power_of_two(double value) {
    int exponent = 0;
    return std::fabs(std::frexp(value, &exponent)) == 0.5;
}

std::set<int> rounded_products(const Graph& graph) {
    std::set<int> products;
    for (const Node& node : graph.nodes) {
        if (!node.exact || (node.op != "add" && node.op != "subtract")) continue;
        for (int id : node.operands) {
            while (graph.at(id).family == Family::layout || graph.at(id).op == "negative")
                id = graph.at(id).operands[0];
            const Node& product = graph.at(id);
            if (product.family == Family::pointwise && (product.op == "multiply" || product.op == "square"))
                products.insert(id);
        }
    }
    return products;
}

}  // namespace strop
