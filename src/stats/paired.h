// Comparing two kernels from interleaved pairs of samples. Pure.
#pragma once

#include <vector>

#include "stats/sample.h"

namespace strop::stats {

// The ratio b/a of paired samples (a[i] and b[i] taken next to each other): exp of the median of log(b/a), with an
// interval. Above 1 means that a is faster. With fewer than two pairs the interval is [0, infinity].
Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b, double confidence = 0.95);

// Several independent ratios (one a shape) as one geometric mean; the interval is propagated on the log scale.
Interval combine(const std::vector<Interval>& ratios);

enum class Answer { faster, slower, undecided };

// Three answers: the whole interval above 1 + band, below 1 / (1 + band), or neither.
Answer decide(const Interval& ratio, double band = 0.01);

}  // namespace strop::stats
