// What the last look at the dispatching function says: paired with the baselines on fresh inputs, and under sanitizers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/record.h"

namespace strop {

// The comparison of the dispatching function, named first, with baselines; points in the order of the record's shapes,
// which get their times. `kernel_at`: who runs at a shape. The first failure, or nothing.
std::string note_verification(const Comparison& comparison,
                              const std::function<std::string(const Dimensions&)>& kernel_at, RunRecord& record);
// The first finding, or nothing.
std::string finding_of(const std::vector<SanitizerRun>& runs);

}  // namespace strop
