// How long a worker may take for what it is asked: what its own limits allow, and as much again. Whoever needs longer
// hangs, however often it says that it works.
#pragma once

#include <vector>

#include "base/clock.h"
#include "core/evaluation.h"

namespace strop::judge {

inline constexpr Seconds no_limit{1e9};

// `reference_limit`: of one call of the reference.
Seconds batch_limit(const std::vector<EvaluationRequest>& requests, Seconds reference_limit);
Seconds batch_limit(const ComparisonRequest& request, Seconds reference_limit);

}  // namespace strop::judge
