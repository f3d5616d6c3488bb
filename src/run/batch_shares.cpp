#include "run/batch_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "run/budget.h"

namespace strop {

namespace {

constexpr double steady = 0.02;         // what a search that seems to gain nothing any more is taken to gain
constexpr double of_a_first = 1.5;      // and one after a single configuration, or none; after n of them, this over n
constexpr double most_of_late = 0.1;    // a leap is made once
constexpr double verified_again = 0.5;  // of the reference's time so far: on fresh inputs

// The mean log ratio over labels of the best times at half of the search and at its end.
double late_gain(const RunRecord& record) {
    std::map<std::string, double> half, whole;
    const double begin = record.history.front().seconds, end = record.history.back().seconds;
    for (const HistoryEntry& entry : record.history) {
        if (entry.verdict != Verdict::ok) continue;
        for (const auto& [label, time] : entry.nanoseconds) {
            if (!(time > 0)) continue;
            double& best = whole.try_emplace(label, time).first->second;
            best = std::min(best, time);
            if (entry.seconds <= (begin + end) / 2) half[label] = best;
        }
    }
    double sum = 0;
    for (const auto& [label, time] : half) sum += std::log(time / whole.at(label));
    return half.empty() ? 0 : sum / static_cast<double>(half.size());
}

// The level at which the shares of those that get any add up to `seconds`.
double level_of(const std::vector<Stake>& stakes, const std::vector<bool>& gets, double seconds) {
    double gains = 0;
    for (size_t i = 0; i < stakes.size(); ++i) {
        if (!gets[i]) continue;
        gains += stakes[i].gain;
        seconds += stakes[i].searched;
    }
    return gains > 0 ? seconds / gains : 0;
}

}  // namespace

bool waits(const RunRecord& record) { return !record.is_finished() && record.stopped_by == "budget"; }

Stake stake_of(const RunRecord& record, bool starts_again) {
    Stake stake;
    stake.after = Budget(record.settings.budget_seconds, 0).after_search() +
                  (verified_again + (starts_again ? 1 : 0)) * record.seconds.reference;
    stake.gain = steady + of_a_first / static_cast<double>(std::max<size_t>(record.history.size(), 1));
    if (record.history.empty()) return stake;
    stake.searched = record.history.back().seconds - record.history.front().seconds;
    stake.gain += std::min(late_gain(record), most_of_late);
    return stake;
}

std::vector<double> shares_of(const std::vector<Stake>& stakes, double seconds) {
    std::vector<bool> gets;
    for (const Stake& stake : stakes) {
        seconds -= stake.after;
        gets.push_back(stake.gain > 0);
    }
    std::vector<double> shares(stakes.size(), 0.0);
    while (seconds > 0) {
        const double level = level_of(stakes, gets, seconds);
        size_t least = stakes.size();
        for (size_t i = 0; i < stakes.size(); ++i) {
            shares[i] = gets[i] ? level * stakes[i].gain - stakes[i].searched : 0;
            if (gets[i] && (least == stakes.size() || shares[i] < shares[least])) least = i;
        }
        if (least == stakes.size() || shares[least] >= least_more_seconds) break;
        gets[least] = false;
        shares[least] = 0;
    }
    return shares;
}

}  // namespace strop
