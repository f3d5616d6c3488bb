// How far a run that goes on has come. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"

namespace strop::serve {

// The best at one shape, as screened during the search.
struct BestSoFar {
    std::string label;
    Dimensions dims;
    std::string baseline, kernel;             // empty: none yet
    double baseline_ns = 0, nanoseconds = 0;  // 0: not measured
};
// In the order of the record's shapes.
std::vector<BestSoFar> best_so_far(const RunRecord& record);

// What the search saw of one kernel.
struct KernelSeen {
    int judged = 0, right = 0;
    double speedup =
        0;  // geometric mean over the shapes against the best baseline of each; 0: not right at every shape
};
KernelSeen seen_of(const RunRecord& record, const std::string& kernel);

// How a kernel did best: as the dispatch calls it, or else as it was screened, at most shapes, then fastest. No points:
// it was never right.
struct BestUse {
    Configuration configuration;
    std::vector<std::string> points;  // labels
};
BestUse best_use(const RunRecord& record, const std::string& kernel);

}  // namespace strop::serve
