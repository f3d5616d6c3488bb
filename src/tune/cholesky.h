// The Cholesky factor of a covariance matrix that grows row by row.
#pragma once

#include <cstddef>
#include <vector>

namespace strop::tune {

class Cholesky {
public:
    size_t size() const { return rows_.size(); }
    const std::vector<double>& row(size_t i) const { return rows_[i]; }  // i + 1 entries
    double log_determinant() const;                                      // of the factor

    // Appends what the matrix holds left of its diagonal (size() entries; they are replaced by the factor's) and on
    // it. A pivot below `least` counts as `least`: a matrix that rounding made singular goes on.
    void append(std::vector<double> left, double diagonal, double least);
    // factor^-1 · b
    std::vector<double> solve(std::vector<double> b) const;
    // factor^-T · b
    std::vector<double> solve_transposed(std::vector<double> b) const;

private:
    std::vector<std::vector<double>> rows_;
};

inline double dot(const std::vector<double>& a, const std::vector<double>& b, size_t count) {
    const double *x = a.data(), *y = b.data();
    double sums[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t lane = 0; lane < 4; ++lane) sums[lane] += x[i + lane] * y[i + lane];
    for (; i < count; ++i) sums[0] += x[i] * y[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace strop::tune
