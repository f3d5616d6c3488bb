// Shares of a run's budget. What comes after the search is planned for ahead, so that a run ends in time.
#pragma once

#include <algorithm>

namespace strop {

// Seconds: two more builds of all winners, and a framework that starts again, have no room in less.
inline constexpr double least_budget_for_all = 30;

struct Shares {
    double dispatch, held_out, verify, sanitize, in_process;
    explicit Shares(double budget)
        : dispatch(std::clamp(0.10 * budget, 2.0, 40.0)), held_out(std::clamp(0.06 * budget, 1.5, 20.0)),
          verify(std::clamp(0.08 * budget, 1.5, 20.0)),
          sanitize(budget < least_budget_for_all ? 0 : std::clamp(0.1 * budget, 4.0, 30.0)),
          in_process(budget < least_budget_for_all ? 0 : std::clamp(0.08 * budget, 3.0, 20.0)) {}
    double after_sanitizers() const { return held_out + verify + in_process; }
    double reserved() const { return dispatch + sanitize + after_sanitizers(); }
};

}  // namespace strop
