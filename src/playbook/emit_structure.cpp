#include <algorithm>
#include <optional>

#include "playbook/doubles.h"
#include "playbook/recipe.h"

namespace strop::playbook {

namespace {

using Emitter = Recipes (*)(const Problem&, const Graph&, const Machine&);

// In the order in which they are asked.
constexpr Emitter emitters[] = {emit_recurrence, emit_contraction, emit_convolution, emit_loops,
                                emit_windows,    emit_places,      emit_scan};

Recipes first_that_takes(const Problem& problem, const Graph& graph, const Machine& machine) {
    if (has_loops(graph)) return emit_recurrence(problem, graph, machine);
    Recipes result;
    for (Emitter emit : emitters) {
        Recipes found = emit(problem, graph, machine);
        if (!found.recipes.empty()) return found;
        if (!found.lacks.empty()) result.lacks = found.lacks;
    }
    return result;
}

Recipes over_doubles_too(const Problem& problem, const Graph& graph, const Machine& machine) {
    const std::optional<StageProblem> single = in_single(problem, graph);
    if (!single) return first_that_takes(problem, graph, machine);
    Recipes found = first_that_takes(single->problem, single->graph, in_doubles(machine));
    for (Recipe& recipe : found.recipes) widen(recipe);
    const auto is_empty = [](const Recipe& recipe) { return recipe.source.empty(); };
    for (Recipe& recipe : found.recipes) std::erase_if(recipe.variants, is_empty);
    if (std::erase_if(found.recipes, is_empty) > 0 && found.recipes.empty())
        found.lacks = "a function of float64 numbers in vectors";
    return found;
}

}  // namespace

Recipes emit_structure(const Problem& problem, const Graph& graph, const Machine& machine) {
    Recipes found = over_doubles_too(problem, graph, machine);
    return found.recipes.empty() && has_loops(graph) ? emit_repeat(problem, graph, machine) : found;
}

}  // namespace strop::playbook
