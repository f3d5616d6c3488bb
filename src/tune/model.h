// A Gaussian process over a tunable space, which guesses what unmeasured configurations cost (Rasmussen,
// Williams, "Gaussian Processes for Machine Learning", 2006).
//
// Covariances: covariance.h; the difference of the values' ranks for numbers, and a part for being different at all
// (Hamming), which lets neighbouring values differ as powers of two and odd ones do. Weights, Hamming part and noise
// maximise the posterior (posterior.h). The mean is a constant, plus a multiple of what earlier runs say where there
// are any (mean.h): as log costs, as ranks or as something between, by what makes the observations most probable. How
// little constant and multiples are known adds to the variance (Rasmussen, Williams, equation 2.42). Where there are
// several earlier runs, how they differ from each other tells beforehand how this one may differ from them
// (Prior::between_runs).
//
// Predictions are kept for a fixed set of candidates and updated with each observation: O(observations ×
// candidates), no matrix is inverted twice.
#pragma once

#include <optional>
#include <vector>

#include "tune/candidates.h"
#include "tune/cholesky.h"
#include "tune/covariance.h"
#include "tune/posterior.h"
#include "tune/space.h"

namespace strop::tune {

class CostModel {
public:
    // `candidates`: rows of the space to predict. `prior`: what earlier runs say of any row (log cost on any
    // scale), or null.
    CostModel(const Space& space, const class Prior* prior);

    void set_candidates(std::vector<size_t> rows);
    const std::vector<size_t>& candidates() const { return candidates_.rows(); }

    // Observations are numbered in the order of their arrival. Costs are logarithms, on any scale.
    size_t observations() const { return points_.size(); }
    void observe(size_t row, double log_cost);
    // Of a candidate that is being measured: as if it cost what predict() says, so that no mean changes.
    void expect(size_t candidate);
    void revise(size_t observation, double log_cost);
    // Forgets all observations; what was learned stays.
    void clear();

    // Learns weights and noise from the observations, and no longer asks earlier runs when they only mislead.
    void learn();
    bool asks_earlier_runs() const { return earlier_runs() > 0; }
    // Estimates the mean; mean() and deviation() are of the present observations afterwards.
    void predict();

    // Of a candidate, on the scale of the costs.
    double mean(size_t candidate) const { return mean_[candidate]; }
    double deviation(size_t candidate) const;
    // The candidate, not `excluded` (one a candidate), that a measurement should gain most of over `best`: expected
    // improvement (Jones, Schonlau, Welch 1998) times how probably it works. None when nothing is to be gained.
    // `widening`: factor of the deviations, for those who trust the model less than it trusts itself.
    std::optional<size_t> most_promising(double best, double widening, const std::vector<bool>& excluded,
                                         const std::vector<float>& success) const;
    // How alike two rows are, in [0, 1].
    double similarity(size_t row, size_t other) const;

private:
    size_t earlier_runs() const;
    void forget_earlier_runs();
    void doubt(const struct Mean& mean);  // how little is known of the mean, for every candidate
    double expected_improvement(size_t candidate, double best, double widening) const;
    std::vector<float> improvement_bounds(double best, double widening) const;
    void extend(size_t first);  // the factor and what is kept of candidates by the observations from `first` on
    void forget_factor();
    void add(size_t row, double log_cost);

    const Space& space_;
    const Prior* prior_;
    Positions positions_;
    Belief belief_;
    Weights weights_;

    std::vector<Point> points_;
    std::vector<double> costs_;
    std::vector<std::vector<double>> scores_;  // as Prior gives them, of each observation
    double ranks_ = 0;                         // share of ranks in what is made of scores
    Cholesky factor_;

    Candidates candidates_;
    std::vector<std::vector<float>> candidate_scores_;  // as Prior gives them, of each candidate
    std::vector<std::vector<float>> solved_;            // observation -> factor^-1 · covariance with each candidate
    std::vector<float> variance_;                       // left of 1
    std::vector<std::vector<float>> unexplained_;  // term of the mean -> what no observation says of each candidate
    size_t explained_by_ = 0;                      // observations
    std::vector<float> mean_variance_;             // of each candidate
    std::vector<float> mean_;
    double scale_ = 1;  // standard deviation of the process
    // Predictions are those of the present observations; at least their means are.
    bool current_ = false, means_current_ = false;
};

}  // namespace strop::tune
