// optimize --on: a batch as one job of a scheduler (scheduler.h), which decides when and where its tasks run; what is
// here writes the script, submits what is missing, follows, and collects.
#pragma once

#include <string>
#include <vector>

#include "cli/batch.h"
#include "cli/flags.h"

namespace strop::cli {

// What --on, --slurm, --k8s and other flags exclude: UsageErrors.
void check_scheduler_flags(const Arguments& arguments);

// In the folder of --out (strop-out) each problem has NAME/ (its result), NAME.db (its store, unless --store names a
// server) and NAME.log; strop-batch.sh is what was submitted, strop-batch.json what a leader that is started again
// needs: a job that still runs is followed, only what is missing is submitted. Ctrl-C cancels the job. Ends as
// optimize_batch does.
int optimize_elsewhere(const std::vector<std::string>& problems, const Arguments& arguments,
                       const OptionsOf& options_of);

}  // namespace strop::cli
