// One launch of a stage under construction: fresh names, and terms from the stage's graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "schedule/graph_terms.h"
#include "schedule/schedule.h"

namespace strop::playbook {

class LaunchBuilder {
public:
    LaunchBuilder(const Problem& problem, const Graph& graph, const std::string& name, schedule::Share share);

    std::string fresh(const std::string& wanted);
    schedule::Axis axis(const std::string& name, const Expression& extent) { return {fresh(name), extent}; }
    // Axes for the extents that are not 1, and the index that they make.
    std::vector<schedule::Axis> axes(const std::vector<Expression>& shape, schedule::Index& index);
    // The grid is all elements of this shape as one axis; the result is the index of its position.
    schedule::Index flat_grid(const std::vector<Expression>& shape);

    // The element of a reduction's operand at `index`, as a law takes it; `place` along the reduced axes.
    std::vector<int> element(const Node& reduction, const schedule::Index& index, const Expression& place);
    // Folds with fresh names; `elements`: terms of an element, or of a partial result.
    schedule::Fold fold(const Node& reduction, std::vector<int> elements);
    // The name of that part of the fold's result that is the node's value.
    static const std::string& result_of(const Node& reduction, const schedule::Fold& fold);

    void step(std::vector<schedule::Axis> axes, decltype(schedule::Step::what) what) {
        launch.steps.push_back({std::move(axes), std::move(what)});
    }
    schedule::Store output(size_t number, const schedule::Index& index);

private:
    const Problem& problem_;
    const Graph& graph_;
    std::set<std::string> taken_;

public:
    schedule::Launch launch;
    schedule::GraphTerms terms;
};

schedule::Law law_of(const Graph& graph, const Node& reduction);
bool is_place(const Node& reduction);  // argmax, argmin

}  // namespace strop::playbook
