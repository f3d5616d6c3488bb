// What earlier runs say about a space: on similar problems, shapes or machines, with tunables of the same
// names.
#pragma once

#include <vector>

#include "tune/posterior.h"
#include "tune/space.h"

namespace strop::tune {

// A run's measurements. Costs on any positive scale, infinity for a failure.
struct EarlierRun {
    std::vector<Configuration> configurations;
    std::vector<double> costs;
};

// Guesses what each run would say of every row of a space, in two ways: its log cost around the run's mean, and its
// rank among what the run measured, with the same spread. (Ranks of another device often hold where its costs do not:
// what is thirteen times slower there may be the best here.) What a run measured itself is taken as it is; what it did
// not is guessed from the nearest that it measured. Runs whose tunables differ say nothing.
class Prior {
public:
    Prior(const Space& space, const std::vector<EarlierRun>& runs);

    size_t runs() const { return runs_.size(); }  // that say something
    // Log costs, one a run, then ranks, one a run.
    std::vector<double> scores(size_t row) const;
    // How a run differs from what the others say of it, in the mean over them: so may the next one. What is usual, of a
    // single run or of very few measurements.
    Belief between_runs(const Positions& positions) const;
    // The rows that the runs found best, the best first, at most `count`.
    std::vector<size_t> best(size_t count) const;

private:
    struct Score {
        double log_cost, rank;
    };
    struct Run {
        std::vector<size_t> rows;                    // sorted
        std::vector<Score> scores;                   // of each
        std::vector<size_t> nearest_rows;            // sorted by cost; what others are guessed from
        std::vector<std::vector<uint16_t>> nearest;  // their coordinates
        std::vector<Score> nearest_scores;
    };
    static std::vector<Score> with_ranks(const std::vector<double>& log_costs);
    Score score(const Run& run, size_t row) const;
    Posterior beyond_the_others(size_t run, const Positions& positions) const;

    const Space& space_;
    std::vector<Run> runs_;
    std::vector<double> alike_;  // how much rows say of each other that differ in so many tunables
};

}  // namespace strop::tune
