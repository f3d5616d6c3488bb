#include "stats/paired.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace strop::stats {

Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b, double confidence) {
    std::vector<double> logs;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (a[i] > 0 && b[i] > 0) logs.push_back(std::log(b[i]) - std::log(a[i]));
    if (logs.size() < 2) {
        double value = logs.empty() ? std::numeric_limits<double>::quiet_NaN() : std::exp(logs[0]);
        return {value, 0, std::numeric_limits<double>::infinity()};
    }
    Interval log = median_interval(logs, confidence);
    return {std::exp(log.value), std::exp(log.low), std::exp(log.high)};
}

Interval combine(const std::vector<Interval>& ratios) {
    std::vector<double> values;
    double below = 0, above = 0;  // squared distances on the log scale; independent errors add in squares
    for (const Interval& ratio : ratios) {
        values.push_back(ratio.value);
        double down = std::log(ratio.value) - std::log(ratio.low),
               up = std::log(ratio.high) - std::log(ratio.value);
        below += down * down;
        above += up * up;
    }
    double mean = geometric_mean(values);
    double n = static_cast<double>(ratios.size());
    return {mean, mean * std::exp(-std::sqrt(below) / n), mean * std::exp(std::sqrt(above) / n)};
}

Answer decide(const Interval& ratio, double band) {
    if (ratio.low > 1 + band) return Answer::faster;
    if (ratio.high < 1 / (1 + band)) return Answer::slower;
    return Answer::undecided;
}

}  // namespace strop::stats
