#include "playbook/loop_laws.h"
#include "playbook/loop_recipes.h"
#include "playbook/recipe.h"

namespace strop::playbook {

Recipes emit_loops(const Problem& problem, const Graph& graph, const Machine& machine) {
    LoopForm form = loop_form(problem, graph);
    if (!form.lacks.empty()) return {{}, form.lacks};
    bool fused_multiply_add = machine.vector_bytes >= 32 || machine.architecture == "aarch64";
    use_known_maxima(form, fused_multiply_add);
    Recipes result;
    if (form.nest == Nest::pointwise) result.recipes = pointwise_recipes(form, machine, result.lacks);
    if (form.nest == Nest::rows) {
        result.recipes = row_recipes(form, machine, result.lacks);
        std::vector<Recipe> lanes = lane_recipes(form, machine, result.lacks);
        result.recipes.insert(result.recipes.end(), lanes.begin(), lanes.end());
    }
    if (form.nest == Nest::columns) result.recipes = column_recipes(form, machine, result.lacks);
    if (!result.lacks.empty()) return {{}, result.lacks};
    exclude_each_other(result.recipes);
    return result;
}

}  // namespace strop::playbook
