// Which strategies a scan gets, with their tunables, first guesses and variants.
#include <algorithm>

#include "playbook/choice.h"
#include "playbook/scan_form.h"
#include "playbook/scan_text.h"

namespace strop::playbook {

namespace {

std::vector<Choice<ScanPlan::Kind>> choices(const ScanForm& form) {
    using Kind = ScanPlan::Kind;
    if (form.nest.has_columns())
        return {
            {Kind::tiles, "blocked_scan",
             "running values of a tile of columns stay in L1 while several rows at a time stream past in "
             "order",
             "memory", 0.6},
            {Kind::panels, "panel_scan",
             "running values of a panel of columns stay in registers from the first row to the last", "memory", 0.5}};
    return {{Kind::prefix, "prefix_in_lanes",
             "each vector is scanned by itself; only one step a vector waits for the one before", "memory", 0.6},
            {Kind::split, "split_scan", "few long rows: the threads share each row, fold their shares, then scan them",
             "parallelism", 0.4}};
}

Recipe recipe_of(const ScanForm& form, const Machine& machine, const Choice<ScanPlan::Kind>& choice, bool stream,
                 std::string& lacks) {
    const KernelParts kernel = write_scan(form, {choice.kind, stream});
    if (lacks.empty()) lacks = kernel.lacks;
    KernelSource source(form.problem, choice.hypothesis);
    source.tune_vectors(machine, true);
    source.late("PARALLEL_MIN", {32768, 4096, 16384, 131072}, machine.cores > 1 ? 16384 : 131072);
    if (!form.nest.has_columns()) source.tune("UNROLL", {4, 1, 2, 8}, 4);
    if (choice.kind == ScanPlan::Kind::tiles) {
        source.tune("TILE", {1024, 256, 512, 2048}, 1024);
        source.tune("ROWS", {4, 1, 2, 8}, 4);
    }
    if (choice.kind == ScanPlan::Kind::panels) source.tune("PANEL", {4, 1, 2, 8}, 4);
    if (stream) source.tune_size("STREAM_MIN", machine);
    Recipe recipe = recipe_of(choice, "scan", source, kernel);
    if (choice.kind == ScanPlan::Kind::split) recipe.condition = long_enough_to_split(form.depth);
    return recipe;
}

}  // namespace

Recipes emit_scan(const Problem& problem, const Graph& graph, const Machine& machine) {
    const ScanForm form = scan_form(problem, graph);
    if (!form.lacks.empty()) return {{}, form.lacks};
    Recipes result;
    for (const Choice<ScanPlan::Kind>& choice : choices(form)) {
        const bool stream = !form.backwards;  // an end is aligned where a begin is not
        Recipe recipe = recipe_of(form, machine, choice, stream, result.lacks);
        if (stream) {
            recipe.variants.push_back(recipe_of(form, machine, choice, false, result.lacks));
            recipe.variants.back().suffix = "plain";
        }
        result.recipes.push_back(std::move(recipe));
    }
    if (!result.lacks.empty()) return {{}, result.lacks};
    exclude_each_other(result.recipes);
    return result;
}

}  // namespace strop::playbook
