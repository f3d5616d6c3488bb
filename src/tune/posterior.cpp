#include "tune/posterior.h"

#include <algorithm>
#include <cmath>

#include "tune/mean.h"

namespace strop::tune {

namespace {

constexpr double usual_weight = 0.7;  // of a tunable: a length scale of 1.2 of its range
constexpr double usual_hamming = 0.03;
constexpr double usual_noise = 1e-3;

double square(double x) { return x * x; }

double log_prior(const Weights& weights, const Belief& belief) {
    const Weights& usual = belief.weights;
    double sum = square(std::log(weights.hamming / usual.hamming)) + square(std::log(weights.noise / usual.noise) / 2);
    for (size_t t = 0; t < weights.of.size(); ++t) sum += square(std::log(weights.of[t] / usual.of[t]) / belief.spread);
    return -0.5 * sum;
}

}  // namespace

Weights usual_weights(size_t tunables) {
    return {std::vector<double>(tunables, usual_weight), usual_hamming, usual_noise};
}

Posterior::Posterior(const Positions& positions, const std::vector<Point>& points, std::vector<double> costs,
                     Belief belief)
    : costs_(std::move(costs)),
      belief_(std::move(belief)) {
    for (size_t t = 0; t < positions.tunables(); ++t) {
        std::vector<float>&steps = steps_.emplace_back(), &differences = differences_.emplace_back();
        for (size_t i = 0; i < points.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                steps.push_back(positions.squared_step(t, points[i][t], points[j][t]));
                differences.push_back(points[i][t] != points[j][t]);
            }
    }
}

std::vector<float> Posterior::covariances(const Weights& weights) const {
    std::vector<float> result(costs_.size() * (costs_.size() - 1) / 2);
    for (size_t t = 0; t < steps_.size(); ++t) {
        float weight = static_cast<float>(weights.of[t]), hamming = static_cast<float>(weights.hamming);
        for (size_t pair = 0; pair < result.size(); ++pair)
            result[pair] += weight * (steps_[t][pair] + hamming * differences_[t][pair]);
    }
    for (float& value : result) value = matern52(value);
    return result;
}

Cholesky Posterior::factor(const Weights& weights) const {
    std::vector<float> covariance = covariances(weights);
    Cholesky factor;
    auto left = covariance.begin();
    for (size_t i = 0; i < costs_.size(); left += static_cast<std::ptrdiff_t>(i), ++i)
        factor.append({left, left + static_cast<std::ptrdiff_t>(i)}, 1 + weights.noise, 1e-9);
    return factor;
}

double Posterior::log(const Weights& weights) const {
    const size_t n = costs_.size();
    const Cholesky covariance = factor(weights);
    const Mean mean = estimate_mean(covariance, costs_, scores_);
    const double squares = std::max(dot(mean.whitened, mean.whitened, n), 1e-12);
    return -0.5 * static_cast<double>(n) * std::log(squares) - covariance.log_determinant() +
           log_prior(weights, belief_);
}

double Posterior::scale(const Weights& weights) const {
    const size_t n = costs_.size();
    const Mean mean = estimate_mean(factor(weights), costs_, scores_);
    return std::sqrt(dot(mean.whitened, mean.whitened, n) / static_cast<double>(n));
}

// All weights together first, then one at a time.
Weights most_probable(const Posterior& posterior, const Weights& start) {
    Weights best = start;
    double highest = posterior.log(best);
    auto climb = [&](auto change, double factor) {
        for (double step : {factor, 1 / factor}) {
            int taken = 0;
            for (; taken < 3; ++taken) {
                Weights other = best;
                change(other, step);
                double probability = posterior.log(other);
                if (probability <= highest) break;
                highest = probability;
                best = other;
            }
            if (taken > 0) return;
        }
    };
    climb(
        [](Weights& w, double step) {
            for (double& weight : w.of) weight *= step;
        },
        2.0);
    for (size_t t = 0; t < start.of.size(); ++t) climb([t](Weights& w, double step) { w.of[t] *= step; }, 2.5);
    climb([](Weights& w, double step) { w.hamming *= step; }, 2.0);
    climb([](Weights& w, double step) { w.noise *= step; }, 4.0);
    return best;
}

}  // namespace strop::tune
