#include "playbook/argument_names.h"

#include <utility>
#include <vector>

#include "playbook/halves.h"

namespace strop::playbook {

std::map<std::string, Expression> free_names(Problem& problem, Graph& graph, const std::set<std::string>& reserved) {
    const bool halves = has_halves(problem);
    std::map<std::string, Expression> renamed, original;
    auto free = [&](std::string& name, bool symbol) {
        if (!reserved.contains(name) && !(halves && half_words().contains(name))) return;
        if (symbol) renamed.emplace(name, Expression::symbol(name + "_"));
        if (symbol) original.emplace(name + "_", Expression::symbol(name));
        name += "_";
    };
    for (std::string& name : problem.dimensions) free(name, true);
    for (Parameter& parameter : problem.parameters) free(parameter.name, true);
    for (std::vector<Tensor>* tensors : {&problem.inputs, &problem.outputs})
        for (Tensor& tensor : *tensors) free(tensor.name, false);
    for (Node& node : graph.nodes) {
        if (node.family == Family::input || node.family == Family::parameter) free(node.op, false);
    }
    if (!renamed.empty()) graph = with_symbols(std::move(graph), renamed);
    return original;
}

}  // namespace strop::playbook
