// From winners per point to a dispatching function over all shapes: paired finals, regimes, thresholds
// measured between the labelled points, held-out check. No I/O.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/dispatch.h"
#include "core/evaluator.h"
#include "core/record.h"
#include "search/search.h"

namespace strop::search {

// One measured shape: time of every winner there (infinity where it may not be called or failed), and what it counts
// for among the others.
struct DispatchSample {
    Dimensions dims;
    std::vector<double> nanoseconds;
    double weight = 1;
    std::vector<double> doubt = {};  // of the times' logarithms, half of a 95% interval; empty: none
};

// Fits a tree with at most `max_leaves` leaves that minimises the mean log regret over the samples, with as few leaves
// as the samples' doubt allows to tell apart: a branch has to gain more than it; features are the problem's dimensions
// and the products that its tensors' extents form (M, N, M*N, ...). Conditions of kernels are respected. Thresholds lie
// between samples (geometric middle), rounded to a number that reads well.
DispatchTree fit_dispatch(const Problem& problem, const std::vector<DispatchWinner>& winners,
                          const std::vector<DispatchSample>& samples, size_t max_leaves = 12);

struct DispatchOptions {
    double seconds = 10;  // for finals, thresholds and probes together
    uint64_t seed = 0;
    size_t most_winners = 5;               // 1: one for all shapes
    int64_t max_bytes = 0;                 // probes whose buffers are larger are not drawn; 0: no limit
    std::function<bool()> stop;            // true: return what there is
    std::function<double()> seconds_left;  // measured by the caller's clock
};

struct DispatchPlan {
    std::vector<DispatchWinner>
        winners;  // at most as many as asked for: one within 2% of another everywhere is merged into it
    DispatchTree tree;
    std::vector<Regime> regimes;
    std::vector<DispatchSample> samples;  // labelled points first
    std::string why_none;                 // where there is no winner
};

// Compares the finalists in pairs at each labelled point, keeps the winners, measures all winners at shapes
// between and around the labelled points (geometric interpolation and draws from the range, log-uniform) and
// fits the tree, bisecting between neighbouring shapes with different winners while time is left. At least
// one winner has no condition; among the finalists there must be such a kernel.
DispatchPlan plan_dispatch(const Problem& problem, const std::vector<Candidate>& finalists, Evaluator& evaluator,
                           const DispatchOptions& options);

// Shapes that nothing saw before: log-uniform in the range, with boundary values (1, low, powers of two ±1,
// primes) mixed in; admitted by the problem, within max_bytes, none of `seen`.
std::vector<ShapePoint> held_out_shapes(const Problem& problem, size_t count, int64_t max_bytes, uint64_t seed,
                                        const std::vector<ShapePoint>& seen);

}  // namespace strop::search
