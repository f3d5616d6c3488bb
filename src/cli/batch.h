// Several problems in one command, one after another: timing wants the machine for itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "core/problem.h"
#include "run/run.h"

namespace strop::cli {

// What a run of that problem is asked for.
using OptionsOf = std::function<RunOptions(const Problem&)>;

// Each gets --budget; with `--jobs auto` all share it: each begins with an equal part and waits half-way through its
// search, the rest goes where most is to be gained (run/batch_shares.h). A line on standard error tells each end.
// A problem that fails does not stop the others. One that the same command finished before is skipped, one that it left
// unfinished is resumed. Prints a table (--json: one document). 0: each improved; 1: not all. Interrupted passes
// through, after the table.
int optimize_batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of);

}  // namespace strop::cli
