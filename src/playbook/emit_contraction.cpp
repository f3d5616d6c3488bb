#include "playbook/contraction_text.h"

namespace strop::playbook {

Recipes emit_contraction(const Problem& problem, const Graph& graph, const Machine& machine) {
    Problem renamed_problem = problem;
    Graph renamed_graph = graph;
    std::map<std::string, Expression> original;
    rename_for_kernel(renamed_problem, renamed_graph, original);

    Recipes result;
    const ContractionForm form = find_contraction(renamed_problem, renamed_graph);
    if (!form.lacks.empty()) {
        if (form.nearly) result.lacks = form.lacks;
        return result;
    }
    const KernelText text(renamed_problem, form, machine);
    if (!text.lacks().empty()) {
        result.lacks = text.lacks();
        return result;
    }
    for (std::vector<Recipe> (*strategy)(const KernelText&) :
         {packed_recipes, direct_recipes, dot_recipes, streaming_recipes, split_recipes})
        for (Recipe& recipe : strategy(text)) result.recipes.push_back(std::move(recipe));
    return result;
}

}  // namespace strop::playbook
