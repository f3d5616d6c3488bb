#include "tune/cholesky.h"

#include <algorithm>
#include <cmath>

namespace strop::tune {

double Cholesky::log_determinant() const {
    double sum = 0;
    for (const std::vector<double>& row : rows_) sum += std::log(row.back());
    return sum;
}

void Cholesky::append(std::vector<double> left, double diagonal, double least) {
    std::vector<double> row = solve(std::move(left));
    row.push_back(std::sqrt(std::max(diagonal - dot(row, row, row.size()), least)));
    rows_.push_back(std::move(row));
}

std::vector<double> Cholesky::solve(std::vector<double> b) const {
    size_t i = 0;
    for (; i + 2 <= b.size(); i += 2) {  // two rows at a time read b once
        const double *row = rows_[i].data(), *next = rows_[i + 1].data();
        double sums[4] = {0, 0, 0, 0};
        for (size_t j = 0; j < i; j += 2)
            for (size_t lane = 0; lane < 2; ++lane) {
                sums[lane] += row[j + lane] * b[j + lane];
                sums[2 + lane] += next[j + lane] * b[j + lane];
            }
        b[i] = (b[i] - sums[0] - sums[1]) / row[i];
        b[i + 1] = (b[i + 1] - sums[2] - sums[3] - next[i] * b[i]) / next[i + 1];
    }
    if (i < b.size()) b[i] = (b[i] - dot(rows_[i], b, i)) / rows_[i][i];
    return b;
}

std::vector<double> Cholesky::solve_transposed(std::vector<double> b) const {
    for (size_t i = b.size(); i-- > 0;) {
        b[i] /= rows_[i][i];
        for (size_t j = 0; j < i; ++j) b[j] -= b[i] * rows_[i][j];
    }
    return b;
}

}  // namespace strop::tune
