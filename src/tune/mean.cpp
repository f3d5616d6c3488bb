#include "tune/mean.h"

namespace strop::tune {

namespace {

constexpr double trust = 0.5;  // standard deviation of the multiples' sum around 1

}  // namespace

Mean estimate_mean(const Cholesky& factor, const std::vector<double>& costs,
                   const std::vector<std::vector<double>>& scores) {
    size_t n = costs.size(), terms = 1 + scores.size();
    std::vector<std::vector<double>> columns = {factor.solve(std::vector<double>(n, 1.0))};
    for (const std::vector<double>& run : scores) columns.push_back(factor.solve(run));
    std::vector<double> y = factor.solve(costs), right(terms);
    Cholesky normal;
    for (size_t i = 0; i < terms; ++i) {
        double precision = i == 0 ? 0 : 1 / (trust * trust);
        right[i] = dot(columns[i], y, n);
        if (i > 0) right[i] += precision / static_cast<double>(scores.size());
        std::vector<double> left;
        for (size_t j = 0; j < i; ++j) left.push_back(dot(columns[i], columns[j], n));
        normal.append(std::move(left), dot(columns[i], columns[i], n) + precision, 1e-12);
    }
    std::vector<double> solution = normal.solve_transposed(normal.solve(right));
    for (size_t t = 0; t < terms; ++t)
        for (size_t i = 0; i < n; ++i) y[i] -= solution[t] * columns[t][i];
    return {solution[0], {solution.begin() + 1, solution.end()}, std::move(y), std::move(columns), std::move(normal)};
}

}  // namespace strop::tune
