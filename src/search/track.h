// One strategy under way: its kernel, what was measured of it, and what its tuner would measure next.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/proposer.h"
#include "tune/searcher.h"

namespace strop::search {

// The best time at a point and the index of the track that took it.
struct Leader {
    double nanoseconds = 0;
    size_t track = 0;
};
using Leaders = std::map<std::string, Leader>;  // by label

class Track {
public:
    Track(Proposal proposal, Proposer* proposer, std::vector<ShapePoint> points, uint64_t seed,
          std::vector<tune::EarlierRun> earlier = {});

    Strategy strategy;
    const Kernel kernel;
    Proposer* const proposer;
    const std::vector<ShapePoint> points;  // where the kernel may be called
    std::set<Proposer*> silent;            // have no further idea for it, or did not answer yet
    bool repair_tried = false;
    bool at_repair = false;  // its author was asked and did not answer yet

    bool active() const { return strategy.state == Strategy::State::active; }
    bool succeeded() const { return !best_.empty(); }
    size_t asked() const { return asked_; }
    size_t configurations() const { return configurations_; }
    bool exhausted() const { return exhausted_ || asked_ >= configurations_; }
    // Nothing is left that could gain much.
    bool done() const;
    // Enough was measured to speak of its own best.
    bool judged() const;

    void give_up(const std::string& reason);

    // Measured before the tuner's own choices, unless it was measured already.
    void enqueue(const Configuration& configuration);
    // It won an earlier run: measured before all others.
    void prove(const Configuration& configuration);
    bool proven() const { return proven_; }
    std::optional<Configuration> next();
    void record(const Evaluation& evaluation, const Leaders& leaders);
    // Measured there no more, and the tuner does not look there: it is out of reach. One point is always left.
    void leave(const std::string& label);
    std::vector<ShapePoint> points_left() const;
    // Tells the tuner all costs anew: which points matter has changed. They matter as this track is near the lead
    // there, or all `alike`.
    void reweigh(const Leaders& leaders, bool alike = false);

    const std::map<std::string, double>& best() const { return best_; }  // by label
    const std::vector<Evaluation>& evaluations() const { return evaluations_; }
    // The evaluation of least cost; null before the first success.
    const Evaluation* best_evaluation(const Leaders& leaders) const;
    double least_cost(const Leaders& leaders) const;  // of that evaluation; infinity before the first success
    const Evaluation* last_failure() const;

    // Best overall over its own best: 1 where it leads. 0 where it was never ok.
    double share(const std::string& label, const Leaders& leaders) const;
    double best_share(const Leaders& leaders) const;
    double mean_share(const Leaders& leaders) const;  // geometric, over its points
    // The point where it is nearest to the lead.
    std::string closest(const Leaders& leaders) const;

private:
    double cost(const Evaluation& evaluation, const Leaders& leaders) const;
    void tell(const Evaluation& evaluation, const Leaders& leaders);

    tune::Space space_;
    std::unique_ptr<tune::Searcher> searcher_;  // while it may be asked
    std::deque<Configuration> queue_;
    std::vector<Configuration> begun_;
    std::vector<Evaluation> evaluations_;
    std::map<std::string, double> best_, weights_;
    std::set<std::string> left_;  // labels
    size_t asked_ = 0, configurations_ = 0;
    bool exhausted_ = false, converged_ = false, proven_ = false;
};

std::string reason_of_failure(const Evaluation& failure);  // one line

// The time at that point that may be used: a kernel that computes wrongly anywhere has none, one that only
// ran out of time or memory at some point keeps the others.
double usable_nanoseconds(const Evaluation& evaluation, const std::string& label);

}  // namespace strop::search
