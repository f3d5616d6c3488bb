#include "playbook/stage_problem.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/merge_axes.h"
#include "graph/rewrite.h"
#include "playbook/free_nodes.h"

namespace strop::playbook {

namespace {

size_t at(int id) { return static_cast<size_t>(id); }

// Copies a stage's nodes with what they read.
class Extractor {
public:
    Extractor(const Problem& problem, const Graph& graph, const Stage& stage, const std::vector<std::string>& names)
        : graph_(graph),
          names_(names),
          own_(stage.nodes.begin(), stage.nodes.end()),
          free_(free_nodes(graph)) {
        for (const Tensor& input : problem.inputs) stored_[input.name] = input.dtype;
        for (size_t k = 0; k < graph.outputs.size() && k < problem.outputs.size(); ++k)
            stored_outputs_[graph.outputs[k]] = problem.outputs[k].dtype;
        result_.problem = problem;
        result_.problem.inputs.clear();
        result_.problem.outputs.clear();
    }

    StageProblem run(const Stage& stage) {
        for (int id : stage.outputs) {
            result_.graph.outputs.push_back(place(id));
            const Node& node = graph_.at(id);
            result_.problem.outputs.push_back({names_[at(id)], stored(node), node.shape, Fill::normal, {}});
        }
        keep_used(result_);
        return std::move(result_);
    }

private:
    int place(int id) {
        auto known = places_.find(id);
        if (known != places_.end()) return known->second;
        const Node& node = graph_.at(id);
        Node copy = node;
        bool inside = own_.contains(id) || (free_[at(id)] && node.family != Family::input);
        if (!inside) {
            copy = {};
            copy.family = Family::input;
            copy.op = names_[at(id)];
            copy.shape = node.shape;
            copy.dtype = node.dtype;
            result_.problem.inputs.push_back({copy.op, stored(node), node.shape, Fill::normal, {}});
        }
        for (int& operand : copy.operands) operand = place(operand);
        copy.id = static_cast<int>(result_.graph.nodes.size());
        result_.graph.nodes.push_back(copy);
        return places_[id] = copy.id;
    }

    // The type in memory: a tensor's of the problem may be of 16 bits, a buffer between stages is as it is computed.
    DType stored(const Node& node) const {
        auto output = stored_outputs_.find(node.id);
        if (output != stored_outputs_.end() && is_half(output->second)) return output->second;
        auto input = stored_.find(node.op);
        const bool half = node.family == Family::input && input != stored_.end() && is_half(input->second);
        return half ? input->second : node.dtype;
    }

    const Graph& graph_;
    const std::vector<std::string>& names_;
    std::set<int> own_;
    std::vector<char> free_;
    std::map<std::string, DType> stored_;  // of the problem's inputs
    std::map<int, DType> stored_outputs_;  // by node
    std::map<int, int> places_;
    StageProblem result_;
};

}  // namespace

void keep_used(StageProblem& stage) {
    const std::set<std::string> used = symbols_of(stage.graph);
    std::erase_if(stage.problem.dimensions, [&](const std::string& name) { return !used.contains(name); });
    std::erase_if(stage.problem.parameters, [&](const Parameter& one) { return !used.contains(one.name); });
}

StageProblem stage_problem(const Problem& problem, const Graph& graph, const Stage& stage,
                           const std::vector<std::string>& names, const std::string& function) {
    StageProblem result = Extractor(problem, graph, stage, names).run(stage);
    result.problem.name = function;
    return result;
}

StageProblem with_merged_axes(StageProblem stage) {
    stage.graph = merge_axes(stage.graph);
    for (const Node& node : stage.graph.nodes)
        for (Tensor& input : stage.problem.inputs)
            if (node.family == Family::input && node.op == input.name) input.shape = node.shape;
    for (size_t k = 0; k < stage.problem.outputs.size(); ++k)
        stage.problem.outputs[k].shape = stage.graph.at(stage.graph.outputs[k]).shape;
    return stage;
}

StageProblem with_shapes_as_used(StageProblem whole) {
    Graph& graph = whole.graph;
    auto is_reshape = [&](int id) { return graph.at(id).family == Family::layout && graph.at(id).op == "reshape"; };
    bool changed = false;
    for (size_t k = 0; k < graph.outputs.size() && k < whole.problem.outputs.size(); ++k) {
        if (!is_reshape(graph.outputs[k])) continue;
        const int source = graph.at(graph.outputs[k]).operands[0];
        if (is_leaf(graph.at(source)) || std::count(graph.outputs.begin(), graph.outputs.end(), source) > 0) continue;
        graph.outputs[k] = source;
        whole.problem.outputs[k].shape = graph.at(source).shape;
        changed = true;
    }
    if (changed) graph = simplify(graph);
    for (Node& node : graph.nodes) {
        const std::vector<int> users = node.family == Family::input ? graph.users(node.id) : std::vector<int>{};
        const bool one_reshape =
            !users.empty() && std::count(graph.outputs.begin(), graph.outputs.end(), node.id) == 0 &&
            std::all_of(users.begin(), users.end(),
                        [&](int user) { return is_reshape(user) && graph.at(user).shape == graph.at(users[0]).shape; });
        if (!one_reshape) continue;
        node.shape = graph.at(users[0]).shape;
        for (Tensor& input : whole.problem.inputs)
            if (input.name == node.op) input.shape = node.shape;
        changed = true;
    }
    if (changed) graph = simplify(graph);
    return whole;
}

}  // namespace strop::playbook
