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
    for (size_t i = 0; i < b.size(); ++i) b[i] = (b[i] - dot(rows_[i], b, i)) / rows_[i][i];
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
