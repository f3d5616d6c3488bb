// What a command is given as its problem: a folder, a problem.yaml, a name, or a Python file with a PyTorch module.
#pragma once

#include <string>

#include "core/problem.h"

namespace strop::cli {

// A Python file is imported into strop-out/problems/NAME first; what the user should know of that goes to standard
// error.
Problem problem_argument(const std::string& given);

}  // namespace strop::cli
