// The strategies of each loop nest.
#pragma once

#include <string>
#include <vector>

#include "core/machine.h"
#include "playbook/loop_form.h"
#include "playbook/recipe.h"

namespace strop::playbook {

// `lacks` is set when an operation cannot be written.
std::vector<Recipe> pointwise_recipes(const LoopForm& form, const Machine& machine, std::string& lacks);
std::vector<Recipe> row_recipes(const LoopForm& form, const Machine& machine, std::string& lacks);
std::vector<Recipe> lane_recipes(const LoopForm& form, const Machine& machine, std::string& lacks);
std::vector<Recipe> column_recipes(const LoopForm& form, const Machine& machine, std::string& lacks);

}  // namespace strop::playbook
