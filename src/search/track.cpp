#include "search/track.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/strings.h"

namespace strop::search {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t least_configurations = 8;
constexpr double missing_penalty = 10;  // a point without a time counts as this many times the best

}  // namespace

double usable_nanoseconds(const Evaluation& evaluation, const std::string& label) {
    bool usable =
        evaluation.ok() || evaluation.verdict == Verdict::timed_out || evaluation.verdict == Verdict::over_limit;
    return usable ? evaluation.nanoseconds(label) : infinity;
}

std::string reason_of_failure(const Evaluation& failure) {
    std::string evidence(trim(split(failure.evidence, '\n').front()));
    return name_of(failure.verdict) + (evidence.empty() ? "" : ": " + evidence);
}

Track::Track(Proposal proposal, Proposer* from, std::vector<ShapePoint> where, uint64_t seed,
             std::vector<tune::EarlierRun> earlier)
    : strategy(std::move(proposal.strategy)),
      kernel(std::move(proposal.kernel)),
      proposer(from),
      points(std::move(where)),
      space_(kernel.space),
      searcher_(tune::make_searcher(space_, {kernel.initial, seed, std::move(earlier)})),
      configurations_(space_.size()) {
    strategy.state = Strategy::State::active;
    for (const ShapePoint& point : points) weights_[point.label] = 1;
}

bool Track::judged() const { return done() || asked_ >= least_configurations; }

void Track::give_up(const std::string& reason) {
    strategy.state = Strategy::State::pruned;
    strategy.reason = reason;
    strategy.confidence = 0;
    converged_ = searcher_ && searcher_->converged();
    searcher_.reset();  // its model is large
}

bool Track::done() const {
    return exhausted() || (queue_.empty() && (searcher_ ? searcher_->converged() : converged_));
}

void Track::tell(const Evaluation& evaluation, const Leaders& leaders) {
    if (exhausted()) searcher_.reset();
    if (searcher_) searcher_->tell(evaluation.configuration, cost(evaluation, leaders));
}

void Track::enqueue(const Configuration& configuration) {
    if (space_.find(configuration)) queue_.push_back(configuration);
}

void Track::prove(const Configuration& configuration) {
    if (!space_.find(configuration)) return;
    queue_.push_front(configuration);
    proven_ = true;
}

std::optional<Configuration> Track::next() {
    std::optional<Configuration> choice;
    while (!choice && !queue_.empty()) {
        bool begun = std::find(begun_.begin(), begun_.end(), queue_.front()) != begun_.end();
        if (!begun) choice = queue_.front();
        queue_.pop_front();
    }
    while (!choice && !exhausted_ && searcher_) {
        std::vector<Configuration> proposed = searcher_->propose(1);
        exhausted_ = proposed.empty();
        // The tuner does not know of queued configurations that are still being measured.
        if (!exhausted_ && std::find(begun_.begin(), begun_.end(), proposed[0]) == begun_.end()) choice = proposed[0];
    }
    if (!choice) return std::nullopt;
    begun_.push_back(*choice);
    ++asked_;
    return choice;
}

void Track::record(const Evaluation& evaluation, const Leaders& leaders) {
    evaluations_.push_back(evaluation);
    for (const ShapePoint& point : points) {
        double nanoseconds = usable_nanoseconds(evaluation, point.label);
        if (!(nanoseconds < infinity)) continue;
        auto [at, fresh] = best_.emplace(point.label, nanoseconds);
        if (!fresh) at->second = std::min(at->second, nanoseconds);
    }
    tell(evaluation, leaders);
}

void Track::leave(const std::string& label) {
    if (left_.size() + 1 < points.size()) left_.insert(label);
}

std::vector<ShapePoint> Track::points_left() const {
    std::vector<ShapePoint> some;
    for (const ShapePoint& point : points)
        if (!left_.contains(point.label)) some.push_back(point);
    return some;
}

void Track::reweigh(const Leaders& leaders, bool alike) {
    for (const ShapePoint& point : points)
        weights_[point.label] = alike ? 1 : std::max(0.05, std::pow(share(point.label, leaders), 3));
    for (const Evaluation& evaluation : evaluations_) tell(evaluation, leaders);
}

double Track::cost(const Evaluation& evaluation, const Leaders& leaders) const {
    double sum = 0, weight = 0;
    bool any = false;
    for (const ShapePoint& point : points) {
        auto leader = leaders.find(point.label);
        if (leader == leaders.end() || left_.contains(point.label)) continue;
        double nanoseconds = usable_nanoseconds(evaluation, point.label);
        bool measured = nanoseconds < infinity;
        any = any || measured;
        double w = weights_.at(point.label);
        sum += w * std::log(measured ? nanoseconds / leader->second.nanoseconds : missing_penalty);
        weight += w;
    }
    return any ? std::exp(sum / weight) : infinity;
}

const Evaluation* Track::best_evaluation(const Leaders& leaders) const {
    const Evaluation* best = nullptr;
    double lowest = infinity;
    for (const Evaluation& evaluation : evaluations_) {
        double own = cost(evaluation, leaders);
        if (own >= lowest) continue;
        lowest = own;
        best = &evaluation;
    }
    return best;
}

double Track::least_cost(const Leaders& leaders) const {
    const Evaluation* best = best_evaluation(leaders);
    return best ? cost(*best, leaders) : infinity;
}

const Evaluation* Track::last_failure() const {
    for (size_t i = evaluations_.size(); i-- > 0;)
        if (!evaluations_[i].ok()) return &evaluations_[i];
    return nullptr;
}

double Track::share(const std::string& label, const Leaders& leaders) const {
    auto own = best_.find(label);
    auto leader = leaders.find(label);
    return own == best_.end() || leader == leaders.end() ? 0 : leader->second.nanoseconds / own->second;
}

double Track::best_share(const Leaders& leaders) const { return share(closest(leaders), leaders); }

double Track::mean_share(const Leaders& leaders) const {
    if (best_.empty()) return 0;
    double sum = 0;
    for (const auto& [label, nanoseconds] : best_) sum += std::log(share(label, leaders));
    return std::exp(sum / static_cast<double>(best_.size()));
}

std::string Track::closest(const Leaders& leaders) const {
    std::string label;
    double highest = -1;
    for (const ShapePoint& point : points) {
        double own = share(point.label, leaders);
        if (own <= highest) continue;
        highest = own;
        label = point.label;
    }
    return label;
}

}  // namespace strop::search
