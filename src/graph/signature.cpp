#include "graph/signature.h"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/strings.h"

namespace strop {

namespace {

// "bmk bkn bmn" and "xij xjl xil" become "abc acd abd".
std::string renamed(const std::vector<std::string>& labels) {
    std::map<char, char> names;
    std::string text;
    for (char letter : join(labels, " ")) {
        if (letter != ' ') letter = names.emplace(letter, static_cast<char>('a' + names.size())).first->second;
        text += letter;
    }
    return text;
}

std::string axes_from_the_last(const Node& node, size_t rank) {
    std::vector<std::string> axes;
    for (int axis : node.axes) axes.push_back(std::to_string(axis - static_cast<int>(rank)));
    return join(axes, " ");
}

std::string operation_of(const Graph& graph, const Node& node) {
    const size_t rank = node.operands.empty() ? node.shape.size() : graph.at(node.operands[0]).shape.size();
    switch (node.family) {
        case Family::input:
        case Family::parameter:
        case Family::constant: return name_of(node.family);
        case Family::contraction: return fmt::format("contraction {}", renamed(node.labels));
        case Family::convolution: return fmt::format("convolution {}", node.stride.size());
        case Family::pointwise: return "pointwise " + node.op;
        case Family::repeat: return "repeat " + node.op;
        default: return fmt::format("{} {} [{}]", name_of(node.family), node.op, axes_from_the_last(node, rank));
    }
}

bool is_leaf(const Node& node) {
    return node.family == Family::input || node.family == Family::parameter || node.family == Family::constant;
}

}  // namespace

Signature signature_of(const Graph& graph) {
    if (!graph.untraceable.empty() || graph.nodes.empty()) return {};
    Signature signature;
    std::map<int, std::string> digests;
    std::set<LoopKey> loops;
    for (const Node& node : graph.nodes) {
        const std::string operation = operation_of(graph, node);
        std::string text = fmt::format("{} {}", operation, name_of(node.dtype));
        // Which input it is says its first use: two of them are told apart, whatever their names are.
        if (node.family == Family::input) text += fmt::format(" {} of {}", node.id, node.shape.size());
        if (node.loop) {
            const Signature body = signature_of(node.loop->body);
            text += fmt::format(" {} {} {}", node.result, node.loop->states, body.exact);
            if (loops.insert(loop_of(node)).second)
                for (const auto& [of_step, count] : body.operations) signature.operations[of_step] += count;
        }
        for (int operand : node.operands) text += "(" + digests[operand] + ")";
        digests[node.id] = content_hash(text);
        if (!is_leaf(node)) ++signature.operations[operation];
    }
    std::string outputs;
    for (int output : graph.outputs) outputs += digests[output];
    signature.exact = content_hash(outputs);
    return signature;
}

}  // namespace strop
