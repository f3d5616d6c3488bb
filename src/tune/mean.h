// The mean of a cost model: a constant, plus a multiple of what each earlier run says.
#pragma once

#include <vector>

#include "tune/cholesky.h"

namespace strop::tune {

struct Mean {
    double constant = 0;
    std::vector<double> multiples;             // one an earlier run
    std::vector<double> whitened;              // factor^-1 · (costs - mean)
    std::vector<std::vector<double>> columns;  // factor^-1 · what constant and multiples are multiplied with
    Cholesky normal;  // factor of the normal equations: what is known of constant and multiples
};

// By generalised least squares; `factor` is that of the costs' covariance, `scores` what each earlier run says of each
// observation. Together the multiples are around 1 before anything was measured: costs differ as they did then.
Mean estimate_mean(const Cholesky& factor, const std::vector<double>& costs,
                   const std::vector<std::vector<double>>& scores);

}  // namespace strop::tune
