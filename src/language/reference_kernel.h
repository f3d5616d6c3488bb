// A reference in C or C++ as a kernel, and as a kernel that computes in float64.
#pragma once

#include <string>

#include "core/problem.h"

namespace strop {

// The source with what it may leave out and a kernel has: the linkage of its function, `restrict` where it is C, the
// type STROP_REAL, a function of the problem's name where `function:` names another one.
std::string reference_as_kernel(const Problem& problem, const std::string& source);

// Whether computing in float64 differs from computing as declared.
bool has_float64_form(const Problem& problem);
// The problem with float64 wherever it has float32, of which reference_in_float64 is a kernel. The author's own choice
// where the source mentions STROP_REAL; else names of types, functions and limits and the literals of float32 become
// those of float64.
Problem problem_in_float64(Problem problem);
std::string reference_in_float64(const Problem& problem, const std::string& source);

// Compiled beside a reference: strop_watched, which calls it and says in words how it ended when a signal or an
// exception ends it.
std::string reference_watch();

}  // namespace strop
