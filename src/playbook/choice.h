// One of the ways to compute a structure, for emitters whose ways differ in a kind of plan.
#pragma once

#include <string>

#include "playbook/kernel_source.h"
#include "playbook/recipe.h"

namespace strop::playbook {

template <class Kind>
struct Choice {
    Kind kind;
    std::string id, hypothesis, bottleneck;
    double confidence;
};

// A barrier costs as much as some ten thousand elements: threads share a row from so many on.
inline constexpr int64_t least_split = 16384;

inline Expression long_enough_to_split(const Expression& depth) {
    return Expression::parse("(" + depth.text() + ") >= " + std::to_string(least_split));
}

// `source`: with its tunables.
template <class Kind>
Recipe recipe_of(const Choice<Kind>& choice, const std::string& family, const KernelSource& source,
                 const KernelParts& kernel) {
    Recipe recipe;
    recipe.source = source.text(kernel.used, kernel.helpers, kernel.body);
    recipe.initial = source.initial;
    recipe.strategy.id = choice.id;
    recipe.strategy.family = family;
    recipe.strategy.proposer = "playbook";
    recipe.strategy.hypothesis = choice.hypothesis;
    recipe.strategy.bottleneck = choice.bottleneck;
    recipe.strategy.confidence = choice.confidence;
    return recipe;
}

}  // namespace strop::playbook
