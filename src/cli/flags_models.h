// Of the table in flags.cpp: flags of commands that may ask language models.
#pragma once

#include <vector>

#include "cli/flags.h"

namespace strop::cli {

std::vector<Flag> joined(std::vector<Flag> flags, const std::vector<Flag>& more);

// Which models, and what they may cost.
std::vector<Flag> choosing_flags();

// And what a run does with them.
std::vector<Flag> model_flags();

}  // namespace strop::cli
