// What commands that take a person's KERNEL share: the file and the problem that it solves.
#pragma once

#include <string>

#include "cli/flags.h"
#include "core/kernel.h"
#include "core/problem.h"

namespace strop::cli {

// The kernel in that file, with its tunables. UsageError where there is none, with the hint.
Kernel read_kernel(const std::string& file, const std::string& hint);

// --problem, else the folder that the (first) KERNEL lies in.
Problem problem_of_kernel(const Arguments& arguments);

}  // namespace strop::cli
