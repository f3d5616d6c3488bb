#include "stats/paired.h"

#include <algorithm>
#include <cmath>

namespace strop::stats {

namespace {

constexpr size_t enough_launches = 10;  // two are left out at each end
constexpr double wide = 0.1;            // half an interval, on the log scale

}  // namespace

Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b, const std::vector<size_t>& launches,
                      double confidence) {
    const size_t pairs = std::min(a.size(), b.size());
    std::vector<double> medians;
    for (size_t i = 0; i < launches.size(); ++i) {
        std::vector<double> logs;
        for (size_t k = launches[i]; k < std::min(pairs, i + 1 < launches.size() ? launches[i + 1] : pairs); ++k)
            if (a[k] > 0 && b[k] > 0) logs.push_back(std::log(b[k]) - std::log(a[k]));
        if (!logs.empty()) medians.push_back(median(logs));
    }
    Interval log = trimmed_mean_interval(medians, confidence);
    return {std::exp(log.value), std::exp(log.low), std::exp(log.high)};
}

bool wants_launches(const Interval& ratio, size_t launches) {
    return launches < enough_launches && !(std::log(ratio.high) - std::log(ratio.low) < 2 * wide);
}

Interval combine(const std::vector<Interval>& ratios) {
    std::vector<double> values;
    double below = 0, above = 0;  // squared distances on the log scale; independent errors add in squares
    for (const Interval& ratio : ratios) {
        values.push_back(ratio.value);
        double down = std::log(ratio.value) - std::log(ratio.low), up = std::log(ratio.high) - std::log(ratio.value);
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
