// A Gaussian process over a tunable space, which guesses what unmeasured configurations cost. Matérn 5/2
// kernel on the distance between ranks of values plus a Hamming term; expected improvement picks the next
// configuration (Jones, Schonlau, Welch 1998).
#pragma once

#include <cstdint>
#include <vector>

#include "tune/space.h"

namespace strop::tune {

class CostModel {
public:
    explicit CostModel(const Space& space);

    // `log_costs` may be on any scale. Chooses the length scale by marginal likelihood.
    void fit(const std::vector<size_t>& rows, const std::vector<double>& log_costs);
    // How much a measurement of that row should gain over `best`, in expectation.
    double expected_improvement(size_t row, double best) const;

private:
    using Point = std::vector<double>;
    Point point(size_t row) const;
    double distance(const Point& a, const Point& b) const;
    // Factorises for one length scale; the log marginal likelihood.
    double factorise(double length);

    const Space& space_;
    std::vector<double> steps_;  // of each tunable: distance between neighbouring values; 0: only same or not
    std::vector<Point> points_;
    std::vector<double> targets_;  // standardised
    double mean_ = 0, scale_ = 1, length_ = 1;
    std::vector<double> lower_;    // Cholesky factor, row-major n × n
    std::vector<double> weights_;  // covariance^-1 · targets
};

}  // namespace strop::tune
