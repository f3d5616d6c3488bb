// What the processes of python/strop/ are told of a problem, and the environment that they have in common.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/problem.h"

namespace strop::judge {

// [{"name", "dtype"}, ...]
Json names_and_dtypes(const std::vector<Tensor>& tensors);
// [{"name", "dtype", "value"}, ...]
Json parameters_with_values(const Problem& problem);

// Threads of the libraries that frameworks compute with; nothing is written beside the files that are read.
std::map<std::string, std::string> framework_environment(int threads);

}  // namespace strop::judge
