// How several runs share one budget: each gets an equal first part, and what is left goes where most is to be gained.
// Pure.
#pragma once

#include <vector>

#include "core/record.h"

namespace strop {

// Of the whole budget, for the first runs of all problems together.
inline constexpr double first_share = 0.5;
// A run that is given less finds nothing.
inline constexpr double least_seconds = 2;

// What more time may gain, from a run that ended: how far it is from its roofline (on the log scale, a mean over
// shapes), weighed by what the second half of its search still gained. 0: it has not ended, or ended by itself before
// its time.
double promise_of(const RunRecord& record);

// Seconds for each, in proportion to the promises. Who would get less than `least_seconds` gets nothing, and the others
// share it; all 0 where nobody would get as much.
std::vector<double> shares_of(const std::vector<double>& promises, double seconds);

}  // namespace strop
