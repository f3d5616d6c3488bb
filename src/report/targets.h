// One function for several targets: their runs side by side. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/record.h"

namespace strop::report {

// How the function did where a target was forced upon it.
struct ChoiceCheck {
    int shapes = 0, correct = 0;  // of the sweep, on fresh inputs
    int held_out = 0, held_out_correct = 0;
    std::string failure;  // the last one
    Ratio over_alone;     // speedup over the same target's result by itself: what choosing costs

    bool holds() const { return failure.empty() && correct == shapes && held_out_correct == held_out; }
};

struct TargetResult {
    std::string target;
    RunRecord record;
    ChoiceCheck check;
};

// Each verified, faster than its baselines, and right when it is chosen.
bool all_improved(const std::vector<TargetResult>& targets);

// `folder`: of the result; each target's own is targets/NAME below it.
std::string targets_json(const std::string& folder, const std::vector<TargetResult>& targets);
std::string targets_markdown(const std::string& folder, const std::vector<TargetResult>& targets);
std::string targets_html(const std::string& folder, const std::vector<TargetResult>& targets);
std::string targets_terminal(const std::string& folder, const std::vector<TargetResult>& targets);

}  // namespace strop::report
