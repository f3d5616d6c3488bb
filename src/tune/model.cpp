#include "tune/model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tune/costs.h"
#include "tune/mean.h"
#include "tune/multiples.h"
#include "tune/posterior.h"
#include "tune/prior.h"

namespace strop::tune {

namespace {

constexpr size_t learned_from = 128;  // observations; more cost more than they teach
constexpr size_t least_to_doubt = 8;  // observations
constexpr double clearly = 2;         // log of how much more probable the costs must be without earlier runs
constexpr double shares_of_ranks[] = {0, 0.4, 0.7, 1};
constexpr double least_variance = 1e-9;

std::vector<float> as_floats(const std::vector<double>& values, size_t count, double factor) {
    std::vector<float> result;
    for (size_t i = 0; i < count; ++i) result.push_back(static_cast<float>(factor * values[i]));
    return result;
}

// What each earlier run says of rows, with so large a share of ranks. `scores`: as Prior gives them.
template <class Number>
std::vector<std::vector<Number>> seen(const std::vector<std::vector<Number>>& scores, double ranks) {
    const size_t runs = scores.size() / 2;
    std::vector<std::vector<Number>> result(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(runs));
    for (size_t r = 0; r < runs; ++r)
        for (size_t i = 0; i < result[r].size(); ++i)
            result[r][i] = static_cast<Number>((1 - ranks) * result[r][i] + ranks * scores[runs + r][i]);
    return result;
}

// Multiples of that, as multiples of log costs and of ranks.
std::vector<float> of_both(const std::vector<double>& multiples, double ranks) {
    std::vector<float> result;
    for (double share : {1 - ranks, ranks})
        for (double multiple : multiples) result.push_back(static_cast<float>(share * multiple));
    return result;
}

}  // namespace

CostModel::CostModel(const Space& space, const Prior* prior)
    : space_(space),
      prior_(prior),
      positions_(space.tunables()),
      belief_(prior ? prior->between_runs(positions_) : Belief{usual_weights(positions_.tunables())}),
      weights_(belief_.weights),
      candidates_(space, positions_) {}

double CostModel::similarity(size_t row, size_t other) const {
    return covariance(positions_, space_.coordinates(row), space_.coordinates(other), weights_);
}

// ---- observations --------------------------------------------------------------------------------------

size_t CostModel::earlier_runs() const { return prior_ ? prior_->runs() : 0; }

void CostModel::set_candidates(std::vector<size_t> rows) {
    candidates_.set(std::move(rows));
    candidate_scores_.assign(2 * earlier_runs(), std::vector<float>(candidates_.size()));
    for (size_t c = 0; earlier_runs() > 0 && c < candidates_.size(); ++c) {
        std::vector<double> scores = prior_->scores(candidates()[c]);
        for (size_t r = 0; r < scores.size(); ++r) candidate_scores_[r][c] = static_cast<float>(scores[r]);
    }
    forget_factor();
}

void CostModel::observe(size_t row, double log_cost) {
    means_current_ = false;
    add(row, log_cost);
}

void CostModel::expect(size_t candidate) {
    predict();
    add(candidates()[candidate], mean(candidate));
}

void CostModel::add(size_t row, double log_cost) {
    current_ = false;
    points_.push_back(space_.coordinates(row));
    costs_.push_back(log_cost);
    scores_.resize(2 * earlier_runs());
    if (earlier_runs() > 0) {
        std::vector<double> scores = prior_->scores(row);
        for (size_t r = 0; r < scores.size(); ++r) scores_[r].push_back(scores[r]);
    }
}

void CostModel::revise(size_t observation, double log_cost) {
    if (costs_[observation] == log_cost) return;
    current_ = means_current_ = false;
    costs_[observation] = log_cost;
}

void CostModel::clear() {
    points_.clear();
    costs_.clear();
    scores_.clear();
    forget_factor();
}

void CostModel::forget_factor() {
    current_ = means_current_ = false;
    factor_ = {};
    solved_.clear();
    variance_.assign(candidates_.size(), 1.0f);
    mean_variance_.assign(candidates_.size(), 0.0f);
    explained_by_ = 0;
    unexplained_ = seen(candidate_scores_, ranks_);
    unexplained_.insert(unexplained_.begin(), std::vector<float>(candidates_.size(), 1.0f));
}

void CostModel::forget_earlier_runs() {
    prior_ = nullptr;
    belief_.scale_is_worth = 0;
    scores_.clear();
    candidate_scores_.clear();
}

void CostModel::extend(size_t first) {
    for (size_t i = first; i < points_.size(); ++i) {
        std::vector<double> left;
        for (size_t j = 0; j < i; ++j) left.push_back(covariance(positions_, points_[i], points_[j], weights_));
        factor_.append(std::move(left), 1 + weights_.noise, 1e-9);
        solved_.push_back(candidates_.covariances(points_[i], weights_));
    }
    std::vector<std::vector<float>> factors;
    for (size_t i = first; i < points_.size(); ++i) factors.push_back(as_floats(factor_.row(i), i, -1));
    for (size_t begin = 0; begin < candidates_.size(); begin += piece) {
        size_t count = std::min(piece, candidates_.size() - begin);
        float* variances = variance_.data() + begin;
        for (size_t i = first; i < points_.size(); ++i) {
            float *sums = solved_[i].data() + begin, pivot = 1 / static_cast<float>(factor_.row(i)[i]);
            add_multiples(sums, factors[i - first], solved_, begin, count);
            for (size_t c = 0; c < count; ++c) {
                sums[c] *= pivot;
                variances[c] -= sums[c] * sums[c];
            }
        }
    }
}

// ---- prediction ----------------------------------------------------------------------------------------

void CostModel::predict() {
    if (current_) return;
    current_ = true;
    extend(factor_.size());
    Mean mean = estimate_mean(factor_, costs_, seen(scores_, ranks_));
    size_t n = points_.size();
    const double squares =
        dot(mean.whitened, mean.whitened, n) + belief_.scale_is_worth * belief_.scale * belief_.scale;
    scale_ = std::max(std::sqrt(squares / (static_cast<double>(n) + belief_.scale_is_worth)), 1e-6);
    doubt(mean);
    if (means_current_) return;
    means_current_ = true;
    mean_.assign(candidates_.size(), static_cast<float>(mean.constant));
    add_multiples(mean_, of_both(mean.multiples, ranks_), candidate_scores_);
    add_multiples(mean_, as_floats(mean.whitened, n, 1), solved_);
}

// What is left of each term when the observations have said of it what they can, whitened by what is known of the
// terms' factors (Rasmussen, Williams, 2.42). Kept between observations, as the variance is.
void CostModel::doubt(const Mean& mean) {
    const size_t n = points_.size(), terms = mean.columns.size();
    for (size_t t = 0; t < terms; ++t)
        for (size_t i = explained_by_; i < n; ++i)
            for (size_t c = 0; c < candidates_.size(); ++c)
                unexplained_[t][c] -= static_cast<float>(mean.columns[t][i]) * solved_[i][c];
    explained_by_ = n;
    std::vector<std::vector<float>> whitened = unexplained_;
    mean_variance_.assign(candidates_.size(), 0.0f);
    for (size_t t = 0; t < terms; ++t) {
        add_multiples(whitened[t], as_floats(mean.normal.row(t), t, -1), whitened);
        const float pivot = 1 / static_cast<float>(mean.normal.row(t)[t]);
        for (size_t c = 0; c < candidates_.size(); ++c) {
            whitened[t][c] *= pivot;
            mean_variance_[c] += whitened[t][c] * whitened[t][c];
        }
    }
}

double CostModel::deviation(size_t candidate) const {
    const double variance = variance_[candidate] + mean_variance_[candidate];
    return scale_ * std::sqrt(std::max(variance, least_variance));
}

double CostModel::expected_improvement(size_t candidate, double best, double widening) const {
    double spread = widening * deviation(candidate), z = (best - mean_[candidate]) / spread;
    if (z < -8) return 0;
    double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI), below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    return spread * (z * below + density);
}

// By Gordon's inequality for the normal distribution's tail (1941): the expected improvement is at most deviation ·
// (max(z, 0) + density(z) / (1 + z²)).
std::vector<float> CostModel::improvement_bounds(double best, double widening) const {
    constexpr float slack = 1.001f;  // for rounding
    std::vector<float> bounds(candidates_.size());
    float scale = static_cast<float>(widening * scale_), least = static_cast<float>(least_variance),
          lowest = static_cast<float>(best);
    for (size_t c = 0; c < bounds.size(); ++c) {
        float spread = scale * std::sqrt(std::max(variance_[c] + mean_variance_[c], least));
        float z = (lowest - mean_[c]) / spread;
        float density = 0.39894228f * exp_of_minus(0.5f * z * z);
        bounds[c] = slack * spread * (std::max(z, 0.0f) + density / (1 + z * z));
    }
    return bounds;
}

std::optional<size_t> CostModel::most_promising(double best, double widening, const std::vector<bool>& excluded,
                                                const std::vector<float>& success) const {
    std::vector<float> bounds = improvement_bounds(best, widening);
    std::optional<size_t> result;
    double highest = 0;
    for (size_t c = 0; c < bounds.size(); ++c) {
        if (success[c] * bounds[c] <= highest || excluded[c]) continue;
        double improvement = success[c] * expected_improvement(c, best, widening);
        if (improvement <= highest) continue;
        highest = improvement;
        result = c;
    }
    return result;
}

// ---- learning ------------------------------------------------------------------------------------------

void CostModel::learn() {
    std::vector<Point> points;
    std::vector<double> costs;
    std::vector<std::vector<double>> scores(scores_.size());
    for (size_t i : informative(costs_, learned_from)) {
        points.push_back(points_[i]);
        costs.push_back(costs_[i]);
        for (size_t r = 0; r < scores.size(); ++r) scores[r].push_back(scores_[r][i]);
    }
    Posterior posterior(positions_, points, std::move(costs), belief_);
    auto probability = [&](const std::vector<std::vector<double>>& of_runs) {
        posterior.hear(of_runs);
        return posterior.log(weights_);
    };
    const bool may_doubt = earlier_runs() > 0 && points_.size() >= least_to_doubt;
    if (may_doubt) {
        double highest = -std::numeric_limits<double>::infinity();
        for (double ranks : shares_of_ranks) {
            const double own = probability(seen(scores, ranks));
            if (own <= highest) continue;
            highest = own;
            ranks_ = ranks;
        }
    }
    posterior.hear(seen(scores, ranks_));
    weights_ = most_probable(posterior, weights_);
    if (may_doubt && probability({}) > probability(seen(scores, ranks_)) + clearly) forget_earlier_runs();
    forget_factor();
}

}  // namespace strop::tune
