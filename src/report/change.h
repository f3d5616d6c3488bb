// How a kernel's times moved between two reports of one problem. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/record.h"

namespace strop::report {

// At a shape that both have, over a baseline that both were compared with: the earlier one's best where it can be, else
// the fastest of the others. What the baseline's own time did between the two is left out so.
struct Change {
    std::string label;
    Dimensions dims;
    std::string baseline;                     // empty: none in both, and the rest says nothing
    Ratio before, after;                      // over the baseline
    Ratio change;                             // after / before, each interval counted; above 1: the later one is faster
    Decision decision = Decision::undecided;  // of the later one, by more than the tolerance
    bool in_turns = false;                    // both took turns now, so that the machine of then says nothing
};

// In the order of the earlier one's shapes; shapes with other dimensions under the same label are not the same.
// `tolerance`: 0.05 leaves changes below 5% undecided.
std::vector<Change> changes(const RunRecord& before, const RunRecord& after, double tolerance);
// Of a comparison of the later kernel with the earlier one, in this order: `baseline` is the earlier one's name there.
std::vector<Change> changes_in_turns(const Comparison& comparison, double tolerance);
// What a reader must know before believing the numbers.
std::vector<std::string> doubts(const RunRecord& before, const RunRecord& after);
// Geometric mean with its interval; nothing of none.
std::optional<Ratio> overall(const std::vector<Ratio>& ratios);
// The same over the shapes with a baseline.
std::optional<Ratio> overall(const std::vector<Change>& changes);

}  // namespace strop::report
