// The time of one call from batches of calls, each timed as a whole from outside.
#pragma once

#include <cstdint>
#include <vector>

namespace strop::stats {

// Two batches, taken one after the other. The short one may be empty.
struct BatchPair {
    double long_ns = 0, short_ns = 0;
    uint32_t long_calls = 1, short_calls = 0;
};

// Nanoseconds of a call. A batch lasts as long as its calls and one hand-shake do, and longer where somebody else had
// the core meanwhile; nothing makes it shorter. So both are lower quartiles over the pairs: the hand-shake of what
// short batches took beyond their calls, the call of what long ones took beyond the hand-shake. With a single pair that
// is the difference of its batches over the difference in calls. Where nothing is left of a call, the hand-shake is
// part of it.
double call_time_ns(const std::vector<BatchPair>& pairs);

}  // namespace strop::stats
