// Who goes into the paired finals.
#pragma once

#include <vector>

#include "search/search.h"
#include "search/track.h"

namespace strop::search {

// The best few of each point (screening times are noisy) and the best of each strategy that is not pruned,
// best first; among them at least one kernel without a condition, if any worked. All may stand in one file: where
// kernels ask for different compilers, those of the better one stay. With `one_for_all` the best few over all points
// instead of each.
std::vector<Candidate> choose_finalists(const std::vector<ShapePoint>& points, const std::vector<const Track*>& tracks,
                                        const Leaders& leaders, bool one_for_all = false);

// The best of each strategy, for when the finalists prove unfit.
std::vector<Candidate> choose_reserves(const std::vector<ShapePoint>& points, const std::vector<const Track*>& tracks,
                                       const Leaders& leaders);

}  // namespace strop::search
