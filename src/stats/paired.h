// Comparing two kernels from interleaved pairs of samples. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "stats/sample.h"

namespace strop::stats {

// The ratio b/a of paired samples: a[i] and b[i] were taken next to each other, in processes that were launched several
// times; launches[i] is the first pair of launch i. Above 1 means that a is faster. What a launch is lucky or unlucky
// with (pages, cores) lasts as long as it lives, and no number of its samples tells. So launches are the observations:
// the trimmed mean of their median log ratios, with its interval. With fewer than two the interval is [0, infinity].
Interval paired_ratio(const std::vector<double>& a, const std::vector<double>& b, const std::vector<size_t>& launches,
                      double confidence = 0.95);

// Whether one disturbed launch may be why an interval is wide: it is, and there are too few to leave the odd ones out.
bool wants_launches(const Interval& ratio, size_t launches);

// Several independent ratios (one a shape) as one geometric mean; the interval is propagated on the log scale.
Interval combine(const std::vector<Interval>& ratios);

enum class Answer { faster, slower, undecided };

// Three answers: the whole interval above 1 + band, below 1 / (1 + band), or neither.
Answer decide(const Interval& ratio, double band = 0.01);

}  // namespace strop::stats
