// The run that the same command left before: what makes a command that is given again go on.
#pragma once

#include <optional>

#include "core/problem.h"
#include "core/record.h"
#include "knowledge/store.h"
#include "run/run.h"

namespace strop::cli {

// The newest run that was asked for the same; nothing where it failed or its result is gone. `seed_matters`: the user
// named one.
std::optional<RunRecord> earlier_run(Store& store, const Problem& problem, const RunOptions& options,
                                     bool seed_matters);

// Goes on with `earlier`, or begins; a finished one is returned as it is.
RunRecord go_on(const std::optional<RunRecord>& earlier, const RunOptions& options, Store& store, View& view);

}  // namespace strop::cli
