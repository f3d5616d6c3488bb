// Scheduled strategies as OpenCL programs.
#include <fmt/format.h>

#include "backend/opencl.h"
#include "language/opencl_host.h"
#include "playbook/recipe.h"
#include "playbook/scheduled_strategies.h"

namespace strop::playbook {

namespace {

class Emitter {
public:
    explicit Emitter(const Problem& problem) : problem_(problem) {}

    // False, and `lacks` says why, where the language cannot say it.
    bool emit(const ScheduledStrategy& from, Recipe& recipe) {
        const backend::SourceText text = backend::write_opencl(problem_, from.schedule);
        if (!text.lacks.empty()) {
            if (lacks.empty()) lacks = text.lacks;
            return false;
        }
        recipe.language = Language::opencl;
        recipe.source = opencl_host(problem_, read_opencl(text.source, problem_, problem_.name + ".cl"));
        recipe.condition = from.schedule.condition;
        recipe.strategy = from.strategy;
        recipe.strategy.proposer = "playbook";
        recipe.suffix = from.suffix;
        for (const ScheduledStrategy& variant : from.variants)
            if (Recipe other; emit(variant, other)) recipe.variants.push_back(std::move(other));
        return true;
    }

    std::string lacks;

private:
    const Problem& problem_;
};

}  // namespace

Recipes emit_opencl(const Problem& problem, const Graph& graph, const Machine&) {
    const ScheduledStrategies scheduled = scheduled_strategies(problem, graph);
    Recipes result{{}, scheduled.lacks};
    Emitter emitter(problem);
    for (const ScheduledStrategy& one : scheduled.strategies)
        if (Recipe recipe; emitter.emit(one, recipe)) result.recipes.push_back(std::move(recipe));
    if (result.recipes.empty() && result.lacks.empty()) result.lacks = emitter.lacks;
    return result;
}

}  // namespace strop::playbook
