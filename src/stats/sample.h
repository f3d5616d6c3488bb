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
double geometric_mean(const std::vector<double>& values);  // NaN when empty or when a value is not positive

// Median with its distribution-free interval from order statistics (binomial); with fewer than 6 samples the
// interval is the range.
Interval median_interval(const std::vector<double>& samples, double confidence = 0.95);

// The mean without a fifth of the samples at each end (none of fewer than five), with its interval from Student's t
// over the winsorized variance (Tukey & McLaughlin 1963): outliers neither move nor widen it. [-infinity, infinity]
// with fewer than two samples.
Interval trimmed_mean_interval(std::vector<double> samples, double confidence = 0.95);

// The t with P(|T| <= t) = confidence for Student's T with that many degrees of freedom (at least 1). The distribution
// is the finite sum of Abramowitz & Stegun 26.7.3 and 26.7.4, inverted by bisection.
double student_quantile(double confidence, int degrees);

// Percentile bootstrap of the median (Efron 1979), `resamples` draws, seeded and repeatable.
Interval bootstrap_median(const std::vector<double>& samples, double confidence, int resamples, uint64_t seed);

}  // namespace strop::stats
