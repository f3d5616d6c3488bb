// How probable weights are in the light of some observations: their likelihood times a prior that keeps few data from
// telling much. The mean and the scale of the process are estimated, not weights.
#pragma once

#include <vector>

#include "tune/cholesky.h"
#include "tune/covariance.h"

namespace strop::tune {

Weights usual_weights(size_t tunables);

// What is known of a process before its first observation.
struct Belief {
    Weights weights;            // the most probable
    double spread = 1.2;        // of a weight's logarithm
    double scale = 0;           // the process's standard deviation
    double scale_is_worth = 0;  // so many observations
};

class Posterior {
public:
    // Costs are logarithms.
    Posterior(const Positions& positions, const std::vector<Point>& points, std::vector<double> costs, Belief belief);

    // What each earlier run says of each observation; none, until it is told.
    void hear(std::vector<std::vector<double>> scores) { scores_ = std::move(scores); }
    double log(const Weights& weights) const;
    double scale(const Weights& weights) const;  // the process's standard deviation, as the observations say

private:
    std::vector<float> covariances(const Weights& weights) const;
    Cholesky factor(const Weights& weights) const;

    std::vector<double> costs_;
    Belief belief_;
    std::vector<std::vector<double>> scores_;
    // Of each tunable and each pair of observations (all with the first, all with the second ...): the square of how
    // far their values are apart, and whether they differ.
    std::vector<std::vector<float>> steps_, differences_;
};

// Weights that are about the most probable, by coordinate ascent from some.
Weights most_probable(const Posterior& posterior, const Weights& start);

}  // namespace strop::tune
