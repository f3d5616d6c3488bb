// Which strategies a search for the place of an extremum gets, with their tunables and first guesses.
#include <algorithm>

#include "playbook/choice.h"
#include "playbook/place_form.h"
#include "playbook/place_text.h"

namespace strop::playbook {

namespace {

std::vector<Choice<PlacePlan::Kind>> choices(const PlaceForm& form) {
    using Kind = PlacePlan::Kind;
    if (form.nest.has_columns())
        return {{Kind::tiles, "blocked_search",
                 "what a tile of columns has found stays in L1 while several rows at a time stream past in order",
                 "memory", 0.6},
                {Kind::lanes, "panel_search",
                 "extrema and places of a panel of columns stay in registers from the first row to the last", "memory",
                 0.5}};
    return {{Kind::blocks, "extremum_then_place",
             "the extremum is found first, block by block; its place is looked for in one of them", "memory", 0.6},
            {Kind::lanes, "places_in_lanes", "one pass: every lane remembers where it met its own extremum", "compute",
             0.5},
            {Kind::split, "split_search", "few long rows: the threads share each row and compare what they found",
             "parallelism", 0.4}};
}

}  // namespace

Recipes emit_places(const Problem& problem, const Graph& graph, const Machine& machine) {
    const PlaceForm form = place_form(problem, graph);
    if (!form.lacks.empty()) return {{}, form.lacks};
    Recipes result;
    for (const Choice<PlacePlan::Kind>& choice : choices(form)) {
        const KernelParts kernel = write_places(form, {choice.kind});
        if (!kernel.lacks.empty()) return {{}, kernel.lacks};
        KernelSource source(form.problem, choice.hypothesis);
        source.tune_vectors(machine, false);
        source.late("PARALLEL_MIN", {32768, 4096, 16384, 131072}, machine.cores > 1 ? 16384 : 131072);
        if (!form.nest.has_columns()) {
            source.tune("UNROLL", {4, 1, 2, 8}, 4);
            source.late("BLOCK", {4096, 1024, 16384}, 4096);
        } else if (choice.kind == PlacePlan::Kind::tiles) {
            source.tune("TILE", {1024, 256, 512, 2048}, 1024);
            source.tune("ROWS", {4, 1, 2, 8}, 4);
        } else {
            source.tune("PANEL", {4, 1, 2, 8}, 4);
        }
        Recipe recipe = recipe_of(choice, "search", source, kernel);
        if (choice.kind == PlacePlan::Kind::split) recipe.condition = long_enough_to_split(form.depth);
        result.recipes.push_back(std::move(recipe));
    }
    exclude_each_other(result.recipes);
    return result;
}

}  // namespace strop::playbook
