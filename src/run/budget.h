// A run's budget: its clock, and what each part of the run may take. What comes after the search is planned for ahead,
// so that a run ends in time. All figures are seconds, counted from the run's first start.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace strop {

// Two more builds of all winners, and a framework that starts again, have no room in less.
inline constexpr double least_budget_for_all = 30;

class Budget {
public:
    // `spent`: by a run that was stopped and goes on. `shared`: beside the total, for the search alone.
    Budget(double total, double spent, double shared = 0)
        : total_(total),
          end_(total + shared),
          spent_(spent),
          dispatch_(std::clamp(0.10 * total, 2.0, 40.0)),
          held_out_(std::clamp(0.06 * total, 1.5, 20.0)),
          verify_(std::clamp(0.08 * total, 1.5, 20.0)),
          sanitize_(total < least_budget_for_all ? 0 : std::clamp(0.1 * total, 4.0, 30.0)),
          in_process_(total < least_budget_for_all ? 0 : std::clamp(0.08 * total, 3.0, 20.0)) {}

    double total() const { return total_; }
    double elapsed() const { return spent_ + seconds_since(start_); }

    // `searched`: before the run was stopped.
    void begin_search(double searched) { search_start_ = elapsed() - searched; }
    // Baselines that compile for long must not starve it: it gets half of all but small budgets.
    double search_seconds() const {
        const double least = total_ * (total_ < least_budget_for_all ? 1.0 / 3 : 0.5);
        return std::max(total_ - reserved() - search_start_, least) + shared();
    }
    double search_seconds_left() const { return search_start_ + search_seconds() - elapsed(); }
    // From now on, whatever it had. What follows moves by as much.
    void give_search(double seconds) { end_ += seconds - search_seconds_left(); }
    double shared() const { return end_ - total_; }
    double after_search() const { return reserved(); }
    // Parts that end at a moment get half of their share at least, however late it is.
    double end_of_dispatch() const {
        const double end = std::max(end_ - sanitize_ - after_sanitizers(), elapsed() + dispatch_ / 2);
        return std::min(end, elapsed() + dispatch_ * 1.5);
    }
    double end_of_held_out() const { return std::max(end_ - verify_ - in_process_, elapsed() + held_out_ / 2); }
    // What nobody has used goes to them. 0: the budget has no room for sanitizers.
    double for_sanitizers() const {
        return sanitize_ == 0 ? 0 : std::max(sanitize_, end_ - after_sanitizers() - elapsed());
    }
    // What is left over, up to as much again: a search that ended early is no reason to time for minutes what is known.
    double for_verification() const { return std::clamp(end_ - in_process_ - elapsed(), verify_, 2 * verify_); }
    // One call of it; a small budget is no reason to call it hung.
    Seconds for_a_reference() const { return Seconds(std::clamp(total_, 3.0, 60.0)); }
    double for_in_process() const { return in_process_; }

private:
    double after_sanitizers() const { return held_out_ + verify_ + in_process_; }
    double reserved() const { return dispatch_ + sanitize_ + after_sanitizers(); }

    double total_, end_, spent_, dispatch_, held_out_, verify_, sanitize_, in_process_;
    double search_start_ = 0;
    Clock::time_point start_ = Clock::now();
};

}  // namespace strop
