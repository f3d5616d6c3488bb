// The loop: plan strategies, judge and tune their kernels over all shapes, re-score, prune, deepen. Pure
// decisions over core's Proposer and Evaluator; no I/O, no clock of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/proposer.h"
#include "core/record.h"
#include "tune/prior.h"

namespace strop::search {

// What the search tells and asks while it runs.
class Observer {
public:
    virtual ~Observer() = default;
    virtual double seconds_left() = 0;  // of the search's share of the budget; <= 0: stop
    virtual bool stop_requested() = 0;  // interrupted
    virtual void on_round(int round, const std::string& what) = 0;
    virtual void on_strategies(const std::vector<Strategy>& strategies) = 0;  // all, after every change
    virtual void on_evaluation(const Evaluation& evaluation, const Kernel& kernel) = 0;
};

struct Targets {
    std::map<std::string, double> baseline_ns;  // by label, best baseline; may be empty
    std::map<std::string, double> roofline_ns;  // by label, 0 or absent: unknown
    std::set<std::string> in_memory;            // labels of points whose tensors lie in no cache
    // Whether the kernel's condition holds there (integer parameters are the caller's). Absent: over
    // dimensions only.
    std::function<bool(const Kernel&, const ShapePoint&)> callable;
    // What earlier runs measured of a kernel. Absent: nothing.
    std::function<std::vector<tune::EarlierRun>(const Kernel&)> earlier;
    int cores = 1;    // that compile at a time, of each worker
    int workers = 1;  // that share a batch
};

// A kernel in a configuration with what it took where.
struct Candidate {
    Kernel kernel;
    Configuration configuration;
    std::map<std::string, double> nanoseconds;  // by label; only points where it was ok
};

struct Result {
    std::vector<Strategy> strategies;
    std::vector<Candidate> finalists;  // the best few of each point and of each surviving strategy, best first
    std::vector<Candidate> reserves;   // the best of each strategy, those that were pruned included, best first
    std::string stopped_by;            // "budget", "plateau", "target", "roofline", "evaluations", "rounds",
                                       // "interrupted", "exhausted"
    int evaluations = 0;
    int rounds = 0;
};

// Strategies share the budget by promise: each gets a first configuration, then those nearest to the best of
// some point get more. A strategy is pruned only when others beat it in every regime, at its own tuned best,
// with the reason kept ("beaten at every shape, closest at large: 1.42× slower than online_single_read").
// Every kernel is judged near its own best before it is pruned. Proposers are asked in order and share one
// beam.
Result run(const std::vector<ShapePoint>& points, const std::vector<Proposer*>& proposers, Evaluator& evaluator,
           const RunSettings& settings, const Targets& targets, Observer& observer);

}  // namespace strop::search
