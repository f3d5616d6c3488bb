#include "tune/model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tune/costs.h"
#include "tune/prior.h"

namespace strop::tune {

namespace {

constexpr size_t piece = 1024;        // candidates
constexpr size_t learned_from = 128;  // observations; more cost more than they teach
constexpr double usual_weight = 0.7;  // of a tunable: a length scale of 1.2 of its range
constexpr double usual_hamming = 0.03;
constexpr double usual_noise = 1e-3;
constexpr double weight_spread = 1.2;  // of the logarithm, before anything was seen
constexpr size_t least_to_doubt = 8;   // observations
constexpr double clearly = 2;          // log of how much more probable the costs must be without earlier runs
constexpr double trust = 0.5;          // standard deviation of the prior's multiple around 1

template <class Number>
Number matern52(Number squared_distance) {
    Number r = std::sqrt(Number(5) * squared_distance);
    return (1 + r + r * r / 3) * std::exp(-r);
}

// a -= factor * b
void subtract(float* a, float factor, const float* b, size_t count) {
    for (size_t i = 0; i < count; ++i) a[i] -= factor * b[i];
}

void subtract(std::vector<float>& a, float factor, const std::vector<float>& b) {
    subtract(a.data(), factor, b.data(), a.size());
}

double dot(const std::vector<double>& a, const std::vector<double>& b, size_t n) {
    double sums[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

// Appends a row to a lower Cholesky factor; `covariance(j)` is the matrix's entry with row j.
template <class Covariance>
void append_row(std::vector<std::vector<double>>& factor, Covariance covariance, double diagonal, double least) {
    std::vector<double> row(factor.size() + 1);
    for (size_t j = 0; j < factor.size(); ++j)
        row[j] = (covariance(j) - dot(factor[j], row, j)) / factor[j][j];
    row.back() = std::sqrt(std::max(diagonal - dot(row, row, factor.size()), least));
    factor.push_back(std::move(row));
}

// factor^-1 · b
std::vector<double> solve(const std::vector<std::vector<double>>& factor, std::vector<double> b) {
    for (size_t i = 0; i < b.size(); ++i) b[i] = (b[i] - dot(factor[i], b, i)) / factor[i][i];
    return b;
}

// Ranks of numbers, spread over [0, 1]; empty for texts, flags and pairs of values, of which one can only say
// whether they are the same.
std::vector<float> ranks(const Tunable& tunable) {
    std::vector<double> values;
    for (const Value& value : tunable.values) {
        if (std::holds_alternative<std::string>(value)) return {};
        values.push_back(to_double(value));
    }
    if (tunable.kind == Tunable::Kind::flags || values.size() < 3) return {};
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<float> result;
    for (double value : values) {
        auto rank = std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin();
        result.push_back(static_cast<float>(rank) / static_cast<float>(values.size() - 1));
    }
    return result;
}

}  // namespace

CostModel::CostModel(const Space& space, const Prior* prior) : space_(space), prior_(prior) {
    for (const Tunable& tunable : space.tunables()) positions_.push_back(ranks(tunable));
    weights_ = {std::vector<double>(positions_.size(), usual_weight), usual_hamming, usual_noise};
}

double CostModel::squared_distance(const Point& a, const Point& b, const Weights& weights) const {
    double sum = 0;
    for (size_t t = 0; t < a.size(); ++t) {
        if (a[t] == b[t]) continue;
        double apart = positions_[t].empty() ? 0.5 : positions_[t][a[t]] - positions_[t][b[t]];
        sum += weights.of[t] * (apart * apart + weights.hamming);
    }
    return sum;
}

double CostModel::similarity(size_t row, size_t other) const {
    return matern52(squared_distance(space_.coordinates(row), space_.coordinates(other), weights_));
}

// ---- observations --------------------------------------------------------------------------------------

size_t CostModel::earlier_runs() const { return prior_ ? prior_->runs() : 0; }

void CostModel::set_candidates(std::vector<size_t> rows) {
    candidates_ = std::move(rows);
    columns_.assign(positions_.size(), Point(candidates_.size()));
    candidate_scores_.assign(earlier_runs(), std::vector<float>(candidates_.size()));
    for (size_t c = 0; c < candidates_.size(); ++c) {
        Point point = space_.coordinates(candidates_[c]);
        for (size_t t = 0; t < point.size(); ++t) columns_[t][c] = point[t];
        if (earlier_runs() == 0) continue;
        std::vector<double> scores = prior_->scores(candidates_[c]);
        for (size_t r = 0; r < scores.size(); ++r) candidate_scores_[r][c] = static_cast<float>(scores[r]);
    }
    forget_factor();
}

void CostModel::observe(size_t row, double log_cost) {
    points_.push_back(space_.coordinates(row));
    costs_.push_back(log_cost);
    scores_.resize(earlier_runs());
    if (earlier_runs() > 0) {
        std::vector<double> scores = prior_->scores(row);
        for (size_t r = 0; r < scores.size(); ++r) scores_[r].push_back(scores[r]);
    }
}

void CostModel::clear() {
    points_.clear();
    costs_.clear();
    scores_.clear();
    forget_factor();
}

void CostModel::forget_factor() {
    factor_.clear();
    solved_.clear();
    variance_.assign(candidates_.size(), 1.0f);
}

void CostModel::add(size_t i) {
    auto with = [&](size_t j) { return matern52(squared_distance(points_[i], points_[j], weights_)); };
    append_row(factor_, with, 1 + weights_.noise, 1e-9);
    const std::vector<double>& row = factor_.back();

    std::vector<float> covariance(candidates_.size(), 0.0f);
    for (size_t t = 0; t < positions_.size(); ++t) {
        std::vector<float> apart(space_.tunables()[t].values.size());
        for (size_t v = 0; v < apart.size(); ++v) {
            double step = positions_[t].empty() ? 0.5 : positions_[t][v] - positions_[t][points_[i][t]];
            if (v != points_[i][t])
                apart[v] = static_cast<float>(weights_.of[t] * (step * step + weights_.hamming));
        }
        for (size_t c = 0; c < covariance.size(); ++c) covariance[c] += apart[columns_[t][c]];
    }
    for (float& value : covariance) value = matern52(value);
    // Piece by piece, so that the sums stay in the nearest cache.
    for (size_t begin = 0; begin < covariance.size(); begin += piece) {
        size_t count = std::min(piece, covariance.size() - begin);
        float* sums = covariance.data() + begin;
        for (size_t j = 0; j < i; ++j) subtract(sums, static_cast<float>(row[j]), solved_[j].data() + begin, count);
        for (size_t c = 0; c < count; ++c) {
            sums[c] /= static_cast<float>(row[i]);
            variance_[begin + c] -= sums[c] * sums[c];
        }
    }
    solved_.push_back(std::move(covariance));
}

// ---- prediction ----------------------------------------------------------------------------------------

namespace {

// y = constant + multiples · what earlier runs say + process, by generalised least squares. Together the
// multiples are around 1 before anything was measured: costs differ as they did then.
struct Mean {
    double constant = 0;
    std::vector<double> multiples;
    std::vector<double> whitened;  // factor^-1 · (y - mean)
};

Mean estimate(const std::vector<std::vector<double>>& factor, const std::vector<double>& costs,
              const std::vector<std::vector<double>>& scores) {
    size_t n = costs.size(), terms = 1 + scores.size();
    std::vector<std::vector<double>> columns = {solve(factor, std::vector<double>(n, 1.0))};
    for (const std::vector<double>& run : scores) columns.push_back(solve(factor, run));
    std::vector<double> y = solve(factor, costs), right(terms);
    std::vector<std::vector<double>> normal;  // Cholesky factor of the normal equations
    for (size_t i = 0; i < terms; ++i) {
        double precision = i == 0 ? 0 : 1 / (trust * trust);
        right[i] = dot(columns[i], y, n);
        if (i > 0) right[i] += precision / static_cast<double>(scores.size());
        append_row(normal, [&](size_t j) { return dot(columns[i], columns[j], n); },
                   dot(columns[i], columns[i], n) + precision, 1e-12);
    }
    std::vector<double> solution = solve(normal, right);
    for (size_t i = terms; i-- > 0;) {
        for (size_t k = i + 1; k < terms; ++k) solution[i] -= normal[k][i] * solution[k];
        solution[i] /= normal[i][i];
    }
    for (size_t t = 0; t < terms; ++t)
        for (size_t i = 0; i < n; ++i) y[i] -= solution[t] * columns[t][i];
    return {solution[0], {solution.begin() + 1, solution.end()}, std::move(y)};
}

}  // namespace

void CostModel::predict() {
    size_t n = points_.size();
    for (size_t i = factor_.size(); i < n; ++i) add(i);
    Mean mean = estimate(factor_, costs_, scores_);
    double squares = dot(mean.whitened, mean.whitened, n);
    scale_ = std::max(std::sqrt(squares / static_cast<double>(n)), 1e-6);
    mean_.assign(candidates_.size(), static_cast<float>(mean.constant));
    for (size_t r = 0; r < mean.multiples.size(); ++r)
        subtract(mean_, static_cast<float>(-mean.multiples[r]), candidate_scores_[r]);
    for (size_t i = 0; i < n; ++i) subtract(mean_, static_cast<float>(-mean.whitened[i]), solved_[i]);
}

double CostModel::deviation(size_t candidate) const {
    return scale_ * std::sqrt(std::max(static_cast<double>(variance_[candidate]), 1e-9));
}

double CostModel::expected_improvement(size_t candidate, double best) const {
    double spread = deviation(candidate), z = (best - mean_[candidate]) / spread;
    if (z < -8) return 0;
    double density = std::exp(-0.5 * z * z) / std::sqrt(2 * M_PI),
           below = 0.5 * std::erfc(-z / std::sqrt(2.0));
    return spread * (z * below + density);
}

// ---- learning ------------------------------------------------------------------------------------------

double CostModel::log_posterior(const Weights& weights, const std::vector<size_t>& chosen) const {
    size_t n = chosen.size();
    std::vector<std::vector<double>> factor;
    std::vector<double> costs;
    std::vector<std::vector<double>> scores(scores_.size());
    double log_determinant = 0;
    for (size_t i = 0; i < n; ++i) {
        auto with = [&](size_t j) {
            return matern52(squared_distance(points_[chosen[i]], points_[chosen[j]], weights));
        };
        append_row(factor, with, 1 + weights.noise, 1e-9);
        log_determinant += std::log(factor[i][i]);
        costs.push_back(costs_[chosen[i]]);
        for (size_t r = 0; r < scores.size(); ++r) scores[r].push_back(scores_[r][chosen[i]]);
    }
    Mean mean = estimate(factor, costs, scores);
    double squares = std::max(dot(mean.whitened, mean.whitened, n), 1e-12);
    double result = -0.5 * static_cast<double>(n) * std::log(squares) - log_determinant;
    for (double weight : weights.of) {
        double off = std::log(weight / usual_weight) / weight_spread;
        result -= 0.5 * off * off;
    }
    double off_hamming = std::log(weights.hamming / usual_hamming),
           off_noise = std::log(weights.noise / usual_noise) / 2;
    return result - 0.5 * off_hamming * off_hamming - 0.5 * off_noise * off_noise;
}

// Coordinate ascent: all weights together first, then one at a time.
void CostModel::learn() {
    std::vector<size_t> chosen = informative(costs_, learned_from);
    Weights best = weights_;
    double highest = log_posterior(best, chosen);
    auto consider = [&](const Weights& weights) {
        double posterior = log_posterior(weights, chosen);
        if (posterior <= highest) return false;
        highest = posterior;
        best = weights;
        return true;
    };
    auto climb = [&](auto change, double factor) {
        for (double step : {factor, 1 / factor}) {
            int taken = 0;
            for (; taken < 3; ++taken) {
                Weights other = best;
                change(other, step);
                if (!consider(other)) break;
            }
            if (taken > 0) return;
        }
    };
    climb(
        [](Weights& w, double step) {
            for (double& weight : w.of) weight *= step;
        },
        2.0);
    for (size_t t = 0; t < weights_.of.size(); ++t)
        climb([t](Weights& w, double step) { w.of[t] *= step; }, 2.5);
    climb([](Weights& w, double step) { w.hamming *= step; }, 2.0);
    climb([](Weights& w, double step) { w.noise *= step; }, 4.0);
    weights_ = best;
    if (earlier_runs() > 0 && points_.size() >= least_to_doubt) {
        std::vector<std::vector<double>> scores = std::move(scores_);
        scores_.clear();
        if (log_posterior(weights_, chosen) > highest + clearly) {
            prior_ = nullptr;
            candidate_scores_.clear();
        } else {
            scores_ = std::move(scores);
        }
    }
    forget_factor();
}

}  // namespace strop::tune
