#include "tune/failures.h"

#include <algorithm>

#include "tune/costs.h"
#include "tune/multiples.h"
#include "tune/posterior.h"

namespace strop::tune {

namespace {

constexpr size_t most_observations = 500;  // beyond, they cost more than they teach
constexpr size_t learned_from = 128;       // observations
constexpr double first_noise = 1;          // a failure explains itself as well by chance as by its surroundings
constexpr double least_noise = 0.01;       // labels without a contradiction would have it vanish
constexpr double least_success = 0.002;

float probability(double mean) { return static_cast<float>(std::clamp(mean, least_success, 1.0)); }

}  // namespace

FailureModel::FailureModel(const Space& space)
    : space_(space),
      positions_(space.tunables()),
      weights_(usual_weights(positions_.tunables())),
      candidates_(space, positions_) {
    weights_.noise = first_noise;
}

void FailureModel::observe(size_t row, bool works) {
    auto known = observation_of_.find(row);
    if (known == observation_of_.end()) {
        if (points_.size() >= most_observations) return;
        observation_of_[row] = points_.size();
        points_.push_back(space_.coordinates(row));
        works_.push_back(works);
    } else {
        double& before = works_[known->second];
        if (before == static_cast<double>(works)) return;
        if (works) --failed_;
        before = works;
    }
    if (!works) ++failed_;
    current_ = false;
    success_.clear();
}

void FailureModel::learn() {
    if (!any() || failed_ == points_.size()) return;
    std::vector<Point> points;
    std::vector<double> works;
    for (size_t i : informative(works_, learned_from)) {  // failures count as low
        points.push_back(points_[i]);
        works.push_back(works_[i]);
    }
    weights_ = most_probable(Posterior(positions_, points, std::move(works), {usual_weights(positions_.tunables())}),
                             weights_);
    weights_.noise = std::max(weights_.noise, least_noise);
    factor_ = {};
    current_ = false;
    forget_covariances();
}

void FailureModel::forget_covariances() {
    covariances_.clear();
    success_.clear();
}

// The average is as if one more had worked, so that it is not 0 while everything fails.
void FailureModel::update() {
    for (size_t i = factor_.size(); i < points_.size(); ++i) {
        std::vector<double> left;
        for (size_t j = 0; j < i; ++j) left.push_back(covariance(positions_, points_[i], points_[j], weights_));
        factor_.append(std::move(left), 1 + weights_.noise, 1e-9);
    }
    average_ = 1 - static_cast<double>(failed_) / static_cast<double>(points_.size() + 1);
    factors_ = works_;
    for (double& value : factors_) value -= average_;
    factors_ = factor_.solve_transposed(factor_.solve(std::move(factors_)));
    current_ = true;
}

std::vector<float> FailureModel::success(const std::vector<size_t>& rows) {
    if (!any()) return std::vector<float>(rows.size(), 1.0f);
    if (!current_) update();
    std::vector<float> result;
    for (size_t row : rows) {
        Point point = space_.coordinates(row);
        double mean = average_;
        for (size_t i = 0; i < points_.size(); ++i)
            mean += factors_[i] * covariance(positions_, point, points_[i], weights_);
        result.push_back(probability(mean));
    }
    return result;
}

void FailureModel::set_candidates(const std::vector<size_t>& rows) {
    candidates_.set(rows);
    forget_covariances();
}

const std::vector<float>& FailureModel::success_of_candidates() {
    if (!success_.empty()) return success_;
    if (!any()) return success_ = std::vector<float>(candidates_.size(), 1.0f);
    if (!current_) update();
    for (size_t i = covariances_.size(); i < points_.size(); ++i)
        covariances_.push_back(candidates_.covariances(points_[i], weights_));
    success_.assign(candidates_.size(), static_cast<float>(average_));
    add_multiples(success_, {factors_.begin(), factors_.end()}, covariances_);
    for (float& value : success_) value = probability(value);
    return success_;
}

}  // namespace strop::tune
