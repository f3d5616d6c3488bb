// What commands that take a person's KERNEL share: the file and the problem that it solves.
#pragma once

#include <string>

#include "cli/flags.h"
#include "core/kernel.h"
#include "core/problem.h"

namespace strop::cli {

// The file that the positional KERNEL names, with its tunables read. UsageError where there is none, with the hint.
Kernel read_kernel(const Arguments& arguments, const std::string& hint);

// --problem, else the folder that KERNEL lies in.
Problem problem_of_kernel(const Arguments& arguments);

}  // namespace strop::cli
