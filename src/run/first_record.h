// What a run begins with: its name, its settings, and the problem that it is of.
#pragma once

#include <string>

#include "core/problem.h"
#include "core/record.h"
#include "run/run.h"

namespace strop {

// Of a new run. Where a recording is replayed, its settings, and its evaluations are in the store. UsageError: the
// recording is of another problem.
RunRecord new_record(const Problem& problem, const RunOptions& options, Store& store);

// Of a run that is in the store. UsageError: there is none of this name, or its problem has changed since.
RunRecord record_of(const std::string& run, Store& store);

}  // namespace strop
