// How several runs share one budget: each begins with an equal part of it, of which half of its search goes by; those
// that ended by themselves are done, and the time that is left for searches goes where most is to be gained. Pure.
#pragma once

#include <vector>

#include "core/record.h"

namespace strop {

// Of the search that an equal part of the budget would have, before the rest is shared.
inline constexpr double first_share = 0.5;
// A search that is given less more finds nothing.
inline constexpr double least_more_seconds = 1;

// A search that waits for its share.
struct Stake {
    double gain = 0;      // what twice the time that it had is expected to bring: a log ratio, the mean over shapes
    double searched = 0;  // seconds
    double after = 0;     // seconds that what follows the search takes, and its reference where it starts again
};

// Of a run that waits. What the second half of its search gained says what twice the time gains; where it saw few
// configurations, that they were few.
Stake stake_of(const RunRecord& record, bool starts_again);

// Whether the search ended for want of time, and its run has not: it can go on.
bool waits(const RunRecord& record);

// Seconds that each search gets of `seconds`, which are also for all that follows the searches. When a search of t
// seconds gains g with every doubling, the sum of g log2(1 + s/t) is largest where s is a level times g less t
// (water-filling). Who would get less than `least_more_seconds` gets nothing.
std::vector<double> shares_of(const std::vector<Stake>& stakes, double seconds);

}  // namespace strop
