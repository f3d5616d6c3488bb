#include "tune/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace strop::tune {

namespace {

constexpr double noise = 1e-3;    // variance of a measurement relative to that of the costs
constexpr double hamming = 0.05;  // squared distance of any two different values

double matern52(double distance) {
    double r = std::sqrt(5.0) * distance;
    return (1 + r + r * r / 3) * std::exp(-r);
}

}  // namespace

CostModel::CostModel(const Space& space) : space_(space) {
    for (const Tunable& tunable : space.tunables()) {
        bool numbers = tunable.kind != Tunable::Kind::flags && tunable.values.size() > 2;
        for (const Value& value : tunable.values)
            numbers = numbers && !std::holds_alternative<std::string>(value);
        steps_.push_back(numbers ? 1.0 / static_cast<double>(tunable.values.size() - 1) : 0.0);
    }
}

CostModel::Point CostModel::point(size_t row) const {
    std::vector<uint16_t> coordinates = space_.coordinates(row);
    return {coordinates.begin(), coordinates.end()};
}

double CostModel::distance(const Point& a, const Point& b) const {
    double sum = 0;
    for (size_t t = 0; t < a.size(); ++t) {
        if (a[t] == b[t]) continue;
        double ranks = (a[t] - b[t]) * steps_[t];
        sum += steps_[t] > 0 ? ranks * ranks + hamming : 0.25;
    }
    return std::sqrt(sum);
}

void CostModel::fit(const std::vector<size_t>& rows, const std::vector<double>& log_costs) {
    points_.clear();
    for (size_t row : rows) points_.push_back(point(row));
    double n = static_cast<double>(rows.size());
    mean_ = std::accumulate(log_costs.begin(), log_costs.end(), 0.0) / n;
    double variance = 0;
    for (double cost : log_costs) variance += (cost - mean_) * (cost - mean_) / n;
    scale_ = std::max(std::sqrt(variance), 1e-6);
    targets_.clear();
    for (double cost : log_costs) targets_.push_back((cost - mean_) / scale_);
    double best = -std::numeric_limits<double>::infinity(), best_length = 1;
    for (double length : {0.4, 0.8, 1.6, 3.2}) {
        double likelihood = factorise(length);
        if (likelihood <= best) continue;
        best = likelihood;
        best_length = length;
    }
    factorise(best_length);
}

double CostModel::factorise(double length) {
    size_t n = points_.size();
    length_ = length;
    lower_.assign(n * n, 0);
    double log_determinant = 0;
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j <= i; ++j) {
            double sum = i == j ? 1 + noise : matern52(distance(points_[i], points_[j]) / length);
            for (size_t k = 0; k < j; ++k) sum -= lower_[i * n + k] * lower_[j * n + k];
            lower_[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / lower_[j * n + j];
        }
        log_determinant += std::log(lower_[i * n + i]);
    }
    weights_ = targets_;
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) weights_[i] -= lower_[i * n + k] * weights_[k];
        weights_[i] /= lower_[i * n + i];
    }
    double squares = std::inner_product(weights_.begin(), weights_.end(), weights_.begin(), 0.0);
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; ++k) weights_[i] -= lower_[k * n + i] * weights_[k];
        weights_[i] /= lower_[i * n + i];
    }
    return -0.5 * squares - log_determinant;
}

double CostModel::expected_improvement(size_t row, double best) const {
    Point at = point(row);
    size_t n = points_.size();
    double mean = 0, variance = 1;
    std::vector<double> solved(n);
    for (size_t i = 0; i < n; ++i) {
        double covariance = matern52(distance(at, points_[i]) / length_);
        mean += covariance * weights_[i];
        for (size_t k = 0; k < i; ++k) covariance -= lower_[i * n + k] * solved[k];
        solved[i] = covariance / lower_[i * n + i];
        variance -= solved[i] * solved[i];
    }
    double deviation = std::sqrt(std::max(variance, 1e-12));
    double z = ((best - mean_) / scale_ - mean) / deviation;
    double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI);
    double below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    return scale_ * deviation * (z * below + density);
}

}  // namespace strop::tune
