#include "playbook/launch_builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace strop::playbook {

using namespace schedule;

LaunchBuilder::LaunchBuilder(const Problem& problem, const Graph& graph, const std::string& name, Share share)
    : problem_(problem),
      graph_(graph),
      terms(graph, launch.terms) {
    launch.name = name;
    launch.share = share;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) taken_.insert(tensor.name);
    for (const Parameter& parameter : problem.parameters) taken_.insert(parameter.name);
    taken_.insert(problem.dimensions.begin(), problem.dimensions.end());
    taken_.insert(name);
}

std::string LaunchBuilder::fresh(const std::string& wanted) {
    std::string unique = wanted;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = fmt::format("{}_{}", wanted, i);
    return unique;
}

std::vector<Axis> LaunchBuilder::axes(const std::vector<Expression>& shape, Index& index) {
    static const char* const letters[] = {"i", "j", "k", "l", "p", "q", "r", "s"};
    std::vector<Axis> result;
    index.assign(shape.size(), Expression(0));
    for (size_t a = 0; a < shape.size(); ++a) {
        if (shape[a].is_literal(1)) continue;
        result.push_back(axis(letters[std::min(result.size(), std::size(letters) - 1)], shape[a]));
        index[a] = Expression::symbol(result.back().name);
    }
    return result;
}

Index LaunchBuilder::flat_grid(const std::vector<Expression>& shape) {
    const Axis all = axis("i", product_of(shape));
    launch.grid = {all};
    const Expression position = Expression::symbol(all.name);
    if (shape.size() > 1) terms.flatten(position, shape);
    return unflattened(position, shape);
}

std::vector<int> LaunchBuilder::element(const Node& reduction, const Index& index, const Expression& place) {
    std::vector<int> parts = {terms.at(reduction.operands[0], index)};
    if (is_place(reduction)) parts.push_back(terms.index(place, DType::int64));
    return parts;
}

Fold LaunchBuilder::fold(const Node& reduction, std::vector<int> elements) {
    static const std::map<std::string, std::string> words = {
        {"max", "largest"}, {"min", "smallest"}, {"prod", "product"}};
    Fold made{{}, law_of(graph_, reduction), std::move(elements)};
    for (const Law::Part& part : made.law.parts) {
        auto word = words.find(part.name);
        made.names.push_back(fresh(word == words.end() ? part.name : word->second));
    }
    return made;
}

const std::string& LaunchBuilder::result_of(const Node& reduction, const Fold& fold) {
    return fold.names[is_place(reduction) ? 1 : 0];
}

Store LaunchBuilder::output(size_t number, const Index& index) {
    const Node& node = graph_.at(graph_.outputs[number]);
    return {problem_.outputs[number].name, terms.place_of(index, node.shape), terms.at(node.id, index)};
}

bool is_place(const Node& reduction) { return reduction.op == "argmax" || reduction.op == "argmin"; }

Law law_of(const Graph& graph, const Node& reduction) {
    if (is_place(reduction)) return extremum_law(reduction.op, graph.at(reduction.operands[0]).dtype);
    return fold_law(reduction.op, reduction.dtype);
}

}  // namespace strop::playbook
