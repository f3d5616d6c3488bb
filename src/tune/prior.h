// What earlier runs say about a space: on similar problems, shapes or machines, with tunables of the same
// names.
#pragma once

#include <vector>

#include "tune/space.h"

namespace strop::tune {

// A run's measurements. Costs on any positive scale, infinity for a failure.
struct EarlierRun {
    std::vector<Configuration> configurations;
    std::vector<double> costs;
};

// Guesses what each run would say of every row of a space: its log cost around the run's mean. What a run
// measured itself is taken as it is; what it did not is guessed from the nearest that it measured. Runs whose
// tunables differ say nothing.
class Prior {
public:
    Prior(const Space& space, const std::vector<EarlierRun>& runs);

    size_t runs() const { return runs_.size(); }   // that say something
    std::vector<double> scores(size_t row) const;  // one a run
    // The rows that the runs found best, the best first, at most `count`.
    std::vector<size_t> best(size_t count) const;

private:
    struct Run {
        std::vector<size_t> rows;                    // sorted
        std::vector<double> scores;                  // of each
        std::vector<std::vector<uint16_t>> nearest;  // what others are guessed from
        std::vector<double> nearest_scores;
    };
    double score(const Run& run, size_t row) const;

    const Space& space_;
    std::vector<Run> runs_;
    std::vector<double> alike_;  // how much rows say of each other that differ in so many tunables
};

}  // namespace strop::tune
