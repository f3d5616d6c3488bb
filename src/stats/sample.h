// Order statistics and intervals of samples. Pure; no dependency but the standard library.
#pragma once

#include <cstdint>
#include <vector>

namespace strop::stats {

struct Interval {
    double value = 0, low = 0, high = 0;
};

// Linear interpolation between order statistics (Hyndman & Fan type 7); NaN when empty. q in [0, 1].
double quantile(std::vector<double> samples, double q);
double median(std::vector<double> samples);
double geometric_mean(const std::vector<double>& values);   // NaN when empty or when a value is not positive

// Median with its distribution-free interval from order statistics (binomial); with fewer than 6 samples the
// interval is the range.
Interval median_interval(const std::vector<double>& samples, double confidence = 0.95);

// Percentile bootstrap of the median (Efron 1979), `resamples` draws, seeded and repeatable.
Interval bootstrap_median(const std::vector<double>& samples, double confidence, int resamples, uint64_t seed);

}  // namespace strop::stats
