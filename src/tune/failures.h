// How probable it is that a configuration works, from those that did and those that failed.
//
// A Gaussian process on 1 for working and 0 for failing (least-squares classification: Rasmussen, Williams 2006,
// section 6.5) with the covariances of the cost model and weights of its own, because what a failure depends on is
// seldom what the time depends on. Only the mean is needed, which makes it cheap. Its noise is high until there is
// evidence for less: one failure says little of its neighbours, and failures without a pattern never do.
#pragma once

#include <unordered_map>
#include <vector>

#include "tune/candidates.h"
#include "tune/cholesky.h"
#include "tune/covariance.h"
#include "tune/space.h"

namespace strop::tune {

class FailureModel {
public:
    explicit FailureModel(const Space& space);

    // Also again, when it has changed.
    void observe(size_t row, bool works);
    // A failure was seen; without one every success is certain.
    bool any() const { return failed_ > 0; }
    // Learns what failures depend on.
    void learn();

    // Of each row, above 0: what is improbable comes last, not never.
    std::vector<float> success(const std::vector<size_t>& rows);
    // The same for a set of rows that stays, at a fraction of the cost.
    void set_candidates(const std::vector<size_t>& rows);
    const std::vector<float>& success_of_candidates();

private:
    void update();  // what is estimated
    void forget_covariances();

    const Space& space_;
    Positions positions_;
    Weights weights_;

    std::unordered_map<size_t, size_t> observation_of_;  // a row's
    std::vector<Point> points_;
    std::vector<double> works_;  // 0 or 1
    size_t failed_ = 0;

    Cholesky factor_;
    double average_ = 1;           // of the process
    std::vector<double> factors_;  // of each observation's covariances: they sum up to the mean around the average
    bool current_ = false;         // both are of the present observations

    Candidates candidates_;
    std::vector<std::vector<float>> covariances_;  // observation -> with each candidate
    std::vector<float> success_;                   // of each candidate; empty when it is to be estimated again
};

}  // namespace strop::tune
