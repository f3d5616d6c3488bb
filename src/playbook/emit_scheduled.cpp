// Scheduled strategies in the languages that are written from schedules alone: OpenCL programs and CUDA C++.
#include <fmt/format.h>

#include "backend/cuda.h"
#include "backend/opencl.h"
#include "language/opencl_host.h"
#include "playbook/recipe.h"
#include "playbook/scheduled_strategies.h"

namespace strop::playbook {

namespace {

class Emitter {
public:
    Emitter(const Problem& problem, Language language) : problem_(problem), language_(language) {}

    // False, and `lacks` says why, where the language cannot say it.
    bool emit(const ScheduledStrategy& from, Recipe& recipe) {
        const bool is_cuda = language_ == Language::cuda;
        const backend::SourceText text =
            is_cuda ? backend::write_cuda(problem_, from.schedule) : backend::write_opencl(problem_, from.schedule);
        if (!text.lacks.empty()) {
            if (lacks.empty()) lacks = text.lacks;
            return false;
        }
        recipe.language = language_;
        recipe.source =
            is_cuda ? text.source : opencl_host(problem_, read_opencl(text.source, problem_, problem_.name + ".cl"));
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
    Language language_;
};

Recipes emit_scheduled(const Problem& problem, const Graph& graph, Language language) {
    const ScheduledStrategies scheduled = scheduled_strategies(problem, graph, abilities_of(language));
    Recipes result{{}, scheduled.lacks};
    Emitter emitter(problem, language);
    for (const ScheduledStrategy& one : scheduled.strategies)
        if (Recipe recipe; emitter.emit(one, recipe)) result.recipes.push_back(std::move(recipe));
    if (result.recipes.empty() && result.lacks.empty()) result.lacks = emitter.lacks;
    return result;
}

}  // namespace

Recipes emit_opencl(const Problem& problem, const Graph& graph, const Machine&) {
    return emit_scheduled(problem, graph, Language::opencl);
}

Recipes emit_cuda(const Problem& problem, const Graph& graph, const Machine&) {
    return emit_scheduled(problem, graph, Language::cuda);
}

}  // namespace strop::playbook
