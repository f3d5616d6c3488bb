#include "playbook/value_names.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/operations.h"

namespace strop::playbook {

namespace {

// Emitters call what they compute by the plain word ("difference"), so memory is called "difference_values".
std::string memory_name(const Node& node) {
    static const std::map<std::string, std::string> layouts = {{"concatenate", "joined"}, {"pad", "padded"}};
    auto values = [](const std::string& word) { return word + (word.ends_with("_value") ? "s" : "_values"); };
    switch (node.family) {
        case Family::contraction: return values("product");
        case Family::convolution: return values("convolution");
        case Family::scan: return values("running");
        case Family::gather: return values("gathered");
        case Family::scatter: return values("scattered");
        case Family::layout: return values(layouts.contains(node.op) ? layouts.at(node.op) : "arranged");
        case Family::reduction: return values(node.op);
        case Family::repeat: return values(node.op == "last" ? "last" : "step");
        default: return values(word_for(node.op));
    }
}

}  // namespace

std::vector<std::string> names_of_values(const Problem& problem, const Graph& graph, const std::vector<Stage>& stages) {
    std::set<std::string> taken = {problem.name, "buffer", "main"};
    taken.insert(problem.dimensions.begin(), problem.dimensions.end());
    for (const Parameter& parameter : problem.parameters) taken.insert(parameter.name);
    std::vector<std::string> names(graph.nodes.size());
    for (const Node& node : graph.nodes)
        if (node.family == Family::input) names[static_cast<size_t>(node.id)] = node.op;
    for (size_t k = 0; k < graph.outputs.size(); ++k)
        names[static_cast<size_t>(graph.outputs[k])] = problem.outputs[k].name;
    taken.insert(names.begin(), names.end());
    for (const Tensor& input : problem.inputs) taken.insert(input.name);
    for (const Stage& stage : stages)
        for (int id : stage.outputs) {
            std::string& name = names[static_cast<size_t>(id)];
            const std::string word = memory_name(graph.at(id));
            for (int i = 1; name.empty(); ++i) {
                std::string one = i == 1 ? word : fmt::format("{}_{}", word, i);
                if (taken.insert(one).second) name = one;
            }
        }
    return names;
}

}  // namespace strop::playbook
