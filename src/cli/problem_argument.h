// What a command is given as its problem: a folder, a problem.yaml, a name, or what is imported (a Python file with a
// PyTorch module, a definition in JSON, a folder with a task).
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "problem/loader.h"

namespace strop::cli {

// What is imported goes into strop-out/problems/NAME first; what the user should know of that goes to standard
// error.
// `dtype`: to which a PyTorch module's tensors are moved; UsageError where there is none.
Problem problem_argument(const std::string& given, const std::string& dtype = {});

// All that may be given by name: the user's own come first and hide those of the same name.
std::vector<ProblemSummary> known_problems();

}  // namespace strop::cli
