#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/convolution_strategies.h"

namespace strop::playbook {

Recipe make_recipe(const ConvolutionContext& context, Strategy strategy, const ConvolutionText& text,
                   Configuration initial, std::string& lacks) {
    Recipe recipe;
    strategy.family = "convolution";
    strategy.proposer = "playbook";
    recipe.strategy = std::move(strategy);
    recipe.source = write_convolution(context.problem, context.graph, context.form, text, lacks);
    recipe.initial = std::move(initial);
    return recipe;
}

std::optional<std::string> all_equal(const std::vector<std::pair<Expression, Expression>>& equal) {
    std::vector<std::string> terms;
    for (const auto& [a, b] : equal) {
        if (a == b) continue;
        if (a.is_literal() && b.is_literal()) return std::nullopt;
        std::string term = fmt::format("{} == {}", a.text(), b.text());
        if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
    }
    return join(terms, " and ");
}

Recipes emit_convolution(const Problem& problem, const Graph& graph, const Machine& machine) {
    Recipes recipes;
    ConvolutionForm form = recognise_convolution(problem, graph);
    if (!form.found) return recipes;
    recipes.lacks = form.lacks;
    if (!form.lacks.empty()) return recipes;
    const ConvolutionContext context{problem, graph, machine, form};
    // Where every filter sees one channel the others have nothing to share, and take several times as long.
    if (form.groups == form.channels) {
        add_channel_lanes(context, recipes);
        if (recipes.lacks.empty()) add_depthwise(context, recipes);
        return recipes.lacks.empty() ? recipes : Recipes{{}, recipes.lacks};
    }
    using Add = void (*)(const ConvolutionContext&, Recipes&);
    std::vector<Add> strategies = {add_shifted_planes, add_filter_lanes};
    if (!form.volumes) strategies.insert(strategies.end(), {add_winograd, add_implicit_gemm, add_pointwise_gemm});
    strategies.insert(strategies.end(), {add_depthwise, add_channel_lanes});
    for (Add add : strategies) {
        add(context, recipes);
        if (!recipes.lacks.empty()) return Recipes{{}, recipes.lacks};
    }
    return recipes;
}

}  // namespace strop::playbook
