// Which strategies pooling gets, with their tunables and first guesses.
#include <algorithm>

#include "playbook/choice.h"
#include "playbook/window_form.h"
#include "playbook/window_text.h"

namespace strop::playbook {

namespace {

// From so many taps on, doubling takes fewer steps than taking them one by one.
constexpr int64_t least_doubled = 4;

std::vector<Choice<WindowPlan::Kind>> choices(const WindowForm& form) {
    std::vector<Choice<WindowPlan::Kind>> result;
    const WindowAxis& last = form.axes.back();
    const bool inner = !form.inner.is_literal(1), rows = form.axes.size() > 1;
    const bool apart = last.stride.is_literal() && last.taps.is_literal() &&
                       last.taps.evaluate_integer({}) <= last.stride.evaluate_integer({});
    if (has_direct_windows(form))
        result.push_back({WindowPlan::Kind::direct, "direct_windows",
                          inner
                              ? "lanes lie behind the windows, so that each is folded in registers where it lies"
                              : "vectors of windows are folded in registers where they lie; what reaches over a border "
                                "is apart",
                          "compute", apart || inner ? 0.6 : 0.5});
    if (rows || !inner)
        result.push_back({WindowPlan::Kind::folded, "rows_folded_first",
                          "the rows of a window are folded into one row of scratch, which all windows of a row share",
                          "memory", apart ? 0.5 : 0.6});
    const bool few = last.taps.is_literal() && last.taps.evaluate_integer({}) < least_doubled;
    if ((rows || !inner) && form.op != "sum" && !few)
        result.push_back({WindowPlan::Kind::doubled, "doubled_windows",
                          "wide windows are the extrema of two that are half as wide, in as many steps as "
                          "the width has digits",
                          "compute", 0.5});
    return result;
}

}  // namespace

Recipes emit_windows(const Problem& problem, const Graph& graph, const Machine& machine) {
    const WindowForm form = window_form(problem, graph);
    if (!form.lacks.empty()) return {{}, form.lacks};
    Recipes result;
    for (const Choice<WindowPlan::Kind>& choice : choices(form)) {
        const KernelParts kernel = write_windows(form, {choice.kind});
        if (!kernel.lacks.empty()) return {{}, kernel.lacks};
        KernelSource source(form.problem, choice.hypothesis);
        source.tune_vectors(machine, true);
        source.late("PARALLEL_MIN", {32768, 4096, 16384, 131072}, machine.cores > 1 ? 16384 : 131072);
        if (kernel.body.find("TILE") != std::string::npos) source.late("TILE", {4096, 256, 1024, 16384}, 4096);
        Recipe recipe = recipe_of(choice, "pooling", source, kernel);
        result.recipes.push_back(std::move(recipe));
    }
    exclude_each_other(result.recipes);
    return result;
}

}  // namespace strop::playbook
