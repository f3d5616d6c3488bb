// Kernels over float64. What an emitter writes for float32 holds for numbers twice as wide, on a machine whose
// registers and caches hold half as many of them: it is asked for that, and the words that say how wide a number is are
// exchanged.
#pragma once

#include <optional>
#include <string>

#include "core/machine.h"
#include "playbook/partition.h"
#include "playbook/recipe.h"

namespace strop::playbook {

// The same computation over float32; nullopt unless every number in it is of float64 (beside integers and truth
// values). Constants keep their type, and with it their digits.
std::optional<StageProblem> in_single(const Problem& problem, const Graph& graph);

// The machine in numbers of float64.
Machine in_doubles(const Machine& machine);

// A source over float64; empty where it calls a function that is known for float32 only.
std::string widened(std::string source);
// The recipe's source, and those of its variants.
void widen(Recipe& recipe);

}  // namespace strop::playbook
