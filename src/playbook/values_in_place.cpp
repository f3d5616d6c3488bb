#include "playbook/values_in_place.h"

#include "graph/rank.h"
#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

// A reshape that does more than to insert or remove axes of extent 1.
bool regroups(const Graph& graph, const Node& node) {
    if (node.op != "reshape") return false;
    const Shape& before = graph.at(node.operands[0]).shape;
    return !unit_insertion(before, node.shape) && !unit_insertion(node.shape, before);
}

}  // namespace

bool computes_in_place(const Graph& graph, int id) {
    const Node& node = graph.at(id);
    switch (node.family) {
        case Family::input:
        case Family::reduction:
        case Family::scan:
        case Family::contraction:
        case Family::convolution:
        case Family::scatter: return false;
        case Family::gather: return parts_of_sort(graph, node).empty();
        case Family::layout: return node.op != "concatenate";
        default: return true;
    }
}

bool is_view(const Graph& graph, const Node& node) {
    if (node.family != Family::layout || node.op == "concatenate" || node.op == "pad") return false;
    const Node& source = graph.at(node.operands[0]);
    bool moved = source.family == Family::layout && is_view(graph, source) && source.op != "reshape";
    return !regroups(graph, node) || !moved;
}

bool reads_from_memory(const Graph& graph, const Node& user, int operand) {
    if (!computes_in_place(graph, operand)) return true;
    if (user.family == Family::contraction || user.family == Family::convolution) return true;
    return user.family == Family::layout && (user.op == "pad" || user.op == "window" || regroups(graph, user));
}

}  // namespace strop::playbook
