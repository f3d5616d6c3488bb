// What a run for one of several targets leaves for the result that is for all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/evaluation.h"
#include "core/record.h"
#include "knowledge/store.h"
#include "language/bundle.h"
#include "language/units.h"
#include "search/dispatch.h"

namespace strop {

struct TargetPart {
    Unit unit;
    Kernel alone;  // the run's own result, which the judge knows
    std::vector<TestVector> vectors;
};

// `alone`: the run's result; nothing is kept of a run without a target.
void keep_part(Store& store, const Problem& problem, const RunRecord& record, const search::DispatchPlan& dispatch,
               BundleNotes notes, const Kernel& alone, const std::vector<TestVector>& vectors);
// Nothing where the run has found no kernel.
std::optional<TargetPart> kept_part(Store& store, const std::string& run);

}  // namespace strop
