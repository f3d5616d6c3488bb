// The convolution strategies, one file each.
#pragma once

#include <optional>

#include "playbook/convolution_text.h"
#include "playbook/recipe.h"

namespace strop::playbook {

struct ConvolutionContext {
    const Problem& problem;
    const Graph& graph;
    const Machine& machine;
    const ConvolutionForm& form;
};

// A recipe whose source is `text`; variants and the condition are the caller's. `lacks` as in
// write_convolution.
Recipe make_recipe(const ConvolutionContext& context, Strategy strategy, const ConvolutionText& text,
                   Configuration initial, std::string& lacks);

// `a == b and c == d ...` over the problem's dimensions and parameters: none of `equal` can be decided as
// false. Absent when a literal contradicts; `1 == 1` and the like are left out, an empty text stays
// "everywhere".
std::optional<std::string> all_equal(const std::vector<std::pair<Expression, Expression>>& equal);

// Each appends its recipe with variants, or nothing when its condition cannot hold.
void add_implicit_gemm(const ConvolutionContext& context, Recipes& recipes);
void add_shifted_planes(const ConvolutionContext& context, Recipes& recipes);
void add_filter_lanes(const ConvolutionContext& context, Recipes& recipes);
void add_winograd(const ConvolutionContext& context, Recipes& recipes);
void add_pointwise_gemm(const ConvolutionContext& context, Recipes& recipes);
void add_depthwise(const ConvolutionContext& context, Recipes& recipes);
void add_channel_lanes(const ConvolutionContext& context, Recipes& recipes);

}  // namespace strop::playbook
