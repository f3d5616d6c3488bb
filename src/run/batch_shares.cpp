#include "run/batch_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

namespace strop {

namespace {

constexpr double steady = 0.05;           // the weight of a search that gains nothing any more
constexpr double unknown_distance = 0.7;  // from a roofline that is not known: a factor of two

double distance_to_roofline(const RunRecord& record) {
    double sum = 0;
    for (const ShapeReport& shape : record.shapes) {
        if (shape.roofline_share <= 0) sum += unknown_distance;
        else if (shape.roofline_share < 1) sum -= std::log(shape.roofline_share);
    }
    return record.shapes.empty() ? 0 : sum / static_cast<double>(record.shapes.size());
}

// The mean log ratio over labels of the best times at half of the search and at its end.
double late_gain(const RunRecord& record) {
    std::map<std::string, double> half, whole;
    if (record.history.empty()) return 0;
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

}  // namespace

double promise_of(const RunRecord& record) {
    if (!record.is_finished() || record.stopped_by != "budget") return 0;
    return distance_to_roofline(record) * (steady + late_gain(record));
}

std::vector<double> shares_of(const std::vector<double>& promises, double seconds) {
    std::vector<double> shares = promises;
    for (;;) {
        const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        if (!(sum > 0) || !(seconds >= least_seconds)) return std::vector<double>(promises.size(), 0.0);
        size_t least = shares.size();  // of those that have one
        for (size_t i = 0; i < shares.size(); ++i)
            if (shares[i] > 0 && (least == shares.size() || shares[i] < shares[least])) least = i;
        if (shares[least] / sum * seconds >= least_seconds) {
            for (double& share : shares) share *= seconds / sum;
            return shares;
        }
        shares[least] = 0;
    }
}

}  // namespace strop
