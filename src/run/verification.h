// What the last look at the dispatching function says: paired with the baselines on fresh inputs, and under sanitizers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/record.h"

namespace strop {

// The fastest of those after the first that ran; null where none did.
const ContenderResult* best_baseline(const PointComparison& point);
// Of the first over the best baseline of each point, over all points; nothing where no baseline ran.
std::optional<Ratio> speedup_over_best(const Comparison& comparison);
// The comparison of the dispatching function, named first, with baselines; points in the order of the record's shapes,
// which get their times. `kernel_at`: who runs at a shape. The last failure, or nothing.
std::string note_verification(const Comparison& comparison,
                              const std::function<std::string(const Dimensions&)>& kernel_at, RunRecord& record);
// How the dispatching function, named first, did on held-out shapes beside its winners; `choice_at`: the winner that it takes.
// The last failure, or nothing.
std::string note_held_out(const Comparison& comparison, const std::function<int(const Dimensions&)>& choice_at,
                          DispatchCheck& check);
// The first finding, or nothing.
std::string finding_of(const std::vector<SanitizerRun>& runs);

}  // namespace strop
