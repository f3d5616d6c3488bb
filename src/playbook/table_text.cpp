#include "playbook/table_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/interpreter.h"
#include "playbook/plain_value.h"

namespace strop::playbook {

namespace {

constexpr int64_t most_elements = 2048;  // of an array
constexpr size_t a_line = 8;

bool may_be_table(const Problem& problem, const Graph& graph) {
    const auto reads = [](const Node& node) {
        return node.family == Family::input || node.family == Family::parameter || node.dim;
    };
    if (std::any_of(graph.nodes.begin(), graph.nodes.end(), reads)) return false;
    for (const Node& node : graph.nodes)
        for (const Expression& extent : node.shape)
            if (!extent.is_literal()) return false;
    return std::all_of(problem.outputs.begin(), problem.outputs.end(), [&](const Tensor& tensor) {
        return !is_half(tensor.dtype) && element_count(problem, tensor, {}) <= most_elements;
    });
}

}  // namespace

std::string table_text(const Problem& problem, const Graph& graph) {
    if (graph.nodes.empty() || !may_be_table(problem, graph)) return {};
    const std::vector<Array> values = interpret(graph, {}, Precision::stored);
    std::string text;
    for (size_t t = 0; t < values.size(); ++t) {
        const Tensor& tensor = problem.outputs[t];
        if (!std::all_of(values[t].values.begin(), values[t].values.end(), [](double v) { return std::isfinite(v); }))
            return {};
        std::vector<std::string> lines;
        for (size_t i = 0; i < values[t].values.size(); ++i) {
            if (i % a_line == 0) lines.emplace_back();
            lines.back() += (i % a_line == 0 ? "    " : " ") + plain_literal(values[t].values[i], tensor.dtype) + ",";
        }
        text +=
            fmt::format("// {}: values that no input changes\n\nalignas(64) static const {} {}[{}] = {{\n{}\n}};\n\n",
                        tensor.name, c_type(tensor.dtype), tensor.name, values[t].values.size(), join(lines, "\n"));
    }
    return text;
}

}  // namespace strop::playbook
