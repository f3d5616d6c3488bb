#include "backend/launch_parts.h"

#include <algorithm>

#include <fmt/format.h>

namespace strop::backend {

using namespace schedule;

std::vector<int> terms_of(const Step& step) {
    std::vector<int> terms;
    auto add = [&](const std::vector<Store>& stores) {
        for (const Store& store : stores) terms.push_back(store.term);
    };
    if (const auto* fold = std::get_if<FoldStep>(&step.what))
        for (const Fold& one : fold->folds) terms.insert(terms.end(), one.terms.begin(), one.terms.end());
    if (const auto* scan = std::get_if<ScanStep>(&step.what)) {
        terms.push_back(scan->term);
        add(scan->stores);
    }
    if (const auto* dot = std::get_if<DotStep>(&step.what)) terms = {dot->a, dot->b};
    if (const auto* keep = std::get_if<KeepStep>(&step.what))
        for (const Keep& one : keep->values) terms.push_back(one.term);
    if (const auto* store = std::get_if<StoreStep>(&step.what)) add(store->stores);
    return terms;
}

const std::vector<Store>* stores_of(const Step& step) {
    if (const auto* scan = std::get_if<ScanStep>(&step.what)) return &scan->stores;
    if (const auto* store = std::get_if<StoreStep>(&step.what)) return &store->stores;
    return nullptr;
}

Shapes shapes_of(const Problem& problem, const Schedule& schedule) {
    Shapes shapes;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) shapes[tensor.name] = tensor.shape;
    for (const Buffer& buffer : schedule.buffers) shapes[buffer.name] = buffer.shape;
    return shapes;
}

Expression offset_of(const std::vector<Expression>& at, const std::vector<Expression>& shape) {
    if (at.size() == 1) return at[0];
    Expression offset = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) offset = offset * shape[axis] + at[axis];
    return offset;
}

bool sums_in_pieces(const Step& step, const FoldStep& fold) {
    if (step.axes.empty()) return false;
    const Expression& last = step.axes.back().extent;
    if (last.is_literal() && last.evaluate_integer({}) <= short_sum) return false;
    return std::any_of(fold.folds.begin(), fold.folds.end(),
                       [](const Fold& one) { return one.law.name == "sum" && is_floating(one.law.parts[0].dtype); });
}

Expression symbol(const std::string& name) { return Expression::symbol(name); }

Expression ceil_divide(const Expression& count, const Expression& size) {
    return Expression::parse(fmt::format("ceildiv({}, {})", count.text(), size.text()));
}

Expression product_of(const std::vector<Axis>& axes) {
    Expression product = 1;
    for (const Axis& axis : axes) product = product * axis.extent;
    return product;
}

LaunchArguments arguments_of(const Problem& problem, const Schedule& schedule, const Launch& launch) {
    const Shapes shapes = shapes_of(problem, schedule);
    std::set<std::string> used, tensors;
    auto use = [&](const std::vector<Expression>& expressions) {
        for (const Expression& expression : expressions) used.merge(expression.symbols());
    };
    for (const Axis& axis : launch.grid) use({axis.extent});
    for (const Step& step : launch.steps) {
        for (const Axis& axis : step.axes) use({axis.extent});
        for (int target : terms_of(step))
            for (int id : cone(launch.terms, target)) {
                const Term& term = launch.terms[static_cast<size_t>(id)];
                use(term.at);
                if (term.kind == Term::Kind::parameter) used.insert(term.name);
                if (term.kind != Term::Kind::load) continue;
                tensors.insert(term.name);
                use(shapes.at(term.name));
            }
        if (const std::vector<Store>* stores = stores_of(step))
            for (const Store& store : *stores) {
                tensors.insert(store.tensor);
                use(store.at);
                use(shapes.at(store.tensor));
            }
    }
    LaunchArguments result;
    auto take = [](const std::set<std::string>& wanted, const auto& all, std::vector<std::string>& into) {
        for (const auto& one : all)
            if (wanted.contains(one.name)) into.push_back(one.name);
    };
    take(tensors, problem.inputs, result.tensors);
    take(tensors, problem.outputs, result.tensors);
    take(tensors, schedule.buffers, result.tensors);
    take(used, problem.parameters, result.parameters);
    for (const std::string& dimension : problem.dimensions)
        if (used.contains(dimension)) result.dimensions.push_back(dimension);
    take(used, schedule.space.tunables, result.tunables);
    return result;
}

std::set<std::string> names_in(const Problem& problem, const Schedule& schedule, const Launch& launch) {
    std::set<std::string> names(problem.dimensions.begin(), problem.dimensions.end());
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) names.insert(tensor.name);
    for (const Buffer& buffer : schedule.buffers) names.insert(buffer.name);
    for (const Parameter& parameter : problem.parameters) names.insert(parameter.name);
    for (const Axis& axis : launch.grid) names.insert(axis.name);
    for (const Step& step : launch.steps)
        for (const Axis& axis : step.axes) names.insert(axis.name);
    return names;
}

}  // namespace strop::backend
