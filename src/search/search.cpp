#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/strings.h"
#include "search/drift.h"
#include "search/finalists.h"
#include "search/track.h"
#include "search/tracks.h"
#include "stats/sample.h"

namespace strop::search {

namespace {

constexpr size_t usual_batch = 4;         // of a worker, compiled in parallel
constexpr size_t longest_share = 8;       // where that fills the cores better
constexpr size_t tries_of_a_failure = 4;  // configurations before a kernel that never worked is given up
constexpr double leading = 0.97;          // within this share of the best at a point: may be its winner
constexpr double exploration = 0.5;       // of the upper confidence bound, on the log scale
constexpr double opinion_weight = 0.1;    // of a proposer's judgement beside what was measured
constexpr double roofline_reached = 0.95;
constexpr int stale_rounds_to_stop = 3;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr const char* together = "all shapes together";

class Search {
public:
    Search(const std::vector<ShapePoint>& points, const std::vector<Proposer*>& proposers, Evaluator& evaluator,
           const RunSettings& settings, const Targets& targets, Observer& observer)
        : points_(points),
          proposers_(proposers),
          evaluator_(evaluator),
          settings_(settings),
          targets_(targets),
          observer_(observer),
          drift_(evaluator, targets.workers > 1 ? std::set<std::string>{} : targets.in_memory) {}

    Result run() {
        plan();
        int stale = 0;
        for (int round = 1; ready(); ++round) {
            result_.rounds = round;
            double before = geometric_mean_of_best();
            observer_.on_round(round, describe_round());
            tune_round(round);
            prune();
            observer_.on_strategies(strategies());
            if (stopped()) break;
            if (settings_.rounds > 0 && round >= settings_.rounds) {
                finish_what_was_asked();  // nothing that is asked for now could be measured
                stop("rounds");
                break;
            }
            const bool new_ideas = deepen() || news_;
            news_ = false;
            bool gained = !(before / geometric_mean_of_best() - 1 < settings_.min_improvement);
            stale = gained || new_ideas ? 0 : stale + 1;
            bool still = (!new_ideas && nothing_left()) || stale >= stale_rounds_to_stop;
            if (still && expected() == 0) {
                if (widen()) stale = 0;
                else stop(nothing_left() && all_exhausted(tracks_) ? "exhausted" : "plateau");
            }
            if (!stopped()) ask_opinions();
        }
        if (tracks_.empty()) stop("exhausted");
        conclude();
        observer_.on_strategies(strategies());
        return result_;
    }

private:
    void plan() {
        for (Proposer* proposer : proposers_)
            for (const Proposal& proposal : proposer->plan()) add(proposal, proposer, nullptr);
        observer_.on_round(0, fmt::format("{} strategies planned", tracks_.size()));
        observer_.on_strategies(strategies());
    }

    // ---- answers that come later ------------------------------------------------------------------------

    // Whether a round has something to do. While nothing can be measured and kernels are expected, it waits for them.
    bool ready() {
        if (tracks_.empty() && expected() == 0) return false;
        while (!stopped()) {
            if (expected() == 0 || measurable()) return !tracks_.empty();
            observer_.on_round(result_.rounds, fmt::format("all is measured; waiting for {} kernels", expected()));
            take_answers(true);
            check_limits();
            if (!measurable()) deepen();
        }
        return false;
    }

    // The last round's: kernels that were asked for are awaited and measured.
    void finish_what_was_asked() {
        while (expected() > 0 && !stopped()) {
            take_answers(true);
            spend(0);
        }
    }

    // Kernels that may still come.
    size_t expected() const {
        size_t sum = 0;
        for (const Proposer* proposer : proposers_) sum += proposer->expected();
        return sum;
    }

    void take_answers(bool wait) {
        if (expected() > 0) tell_best();
        for (Proposer* proposer : proposers_)
            for (Answer& answer : proposer->arrived(wait && proposer->expected() > 0)) take(answer, proposer);
    }

    void take(Answer& answer, Proposer* proposer) {
        for (const auto& [id, opinion] : answer.opinions) opinions_[id] = opinion;
        Track* about = nullptr;
        for (const auto& track : tracks_)
            if (track->strategy.id == answer.strategy) about = track.get();
        const bool repair = answer.kind == Answer::Kind::repair && about;
        const bool deepening = answer.kind == Answer::Kind::deepening && about;
        if (repair) about->at_repair = false;
        if (deepening && !answer.proposals.empty()) about->silent.erase(proposer);
        bool added = false;
        for (Proposal& proposal : answer.proposals)
            added = add(std::move(proposal), proposer, deepening ? about : nullptr) || added;
        if (repair && added)
            about->give_up(fmt::format("{}; mended as {}", reason_of_failure(*about->last_failure()),
                                       tracks_.back()->strategy.id));
        else if (repair) give_up_failures(*about);
        if (added) observer_.on_strategies(strategies());
        news_ = news_ || added;
    }

    bool callable(const Kernel& kernel, const ShapePoint& point) const {
        return targets_.callable ? targets_.callable(kernel, point)
                                 : may_be_called(kernel, Bindings(point.dims.begin(), point.dims.end()));
    }

    // False when the same kernel is known already.
    bool add(Proposal proposal, Proposer* proposer, const Track* parent) {
        for (const auto& track : tracks_)
            if (track->kernel.source == proposal.kernel.source &&
                track->kernel.condition == proposal.kernel.condition) {
                if (proposal.proven) track->prove(proposal.kernel.initial);
                else proposer->refuse(proposal, track->kernel.id);
                return false;
            }
        name_uniquely(proposal, tracks_);
        if (proposal.strategy.proposer.empty()) proposal.strategy.proposer = proposer->name();
        if (parent && proposal.strategy.parent.empty()) proposal.strategy.parent = parent->strategy.id;
        if (parent && proposal.kernel.parent.empty()) proposal.kernel.parent = parent->kernel.id;
        std::vector<ShapePoint> where;
        for (const ShapePoint& point : points_)
            if (callable(proposal.kernel, point)) where.push_back(point);
        const bool proven = proposal.proven;
        tracks_.push_back(make_track(std::move(proposal), proposer, where));
        Track& track = *tracks_.back();
        if (parent) track.enqueue(inherited(track.kernel, *parent, leaders_));
        track.enqueue(track.kernel.initial);
        if (proven) track.prove(track.kernel.initial);
        if (one_for_all() && track.kernel.condition)
            track.give_up(fmt::format("its condition, {}, excludes shapes, and one kernel is to serve all",
                                      track.kernel.condition->text()));
        if (track.configurations() == 0) track.give_up("no configuration of its tunables is valid");
        if (where.empty())
            track.give_up(fmt::format("its condition holds at no shape: {}",
                                      track.kernel.condition ? track.kernel.condition->text() : "there are no shapes"));
        return true;
    }

    // A proposer's constraint that cannot be evaluated is its failure, not the search's.
    std::unique_ptr<Track> make_track(Proposal proposal, Proposer* proposer, const std::vector<ShapePoint>& where) {
        uint64_t seed = mix64(settings_.seed + tracks_.size());
        std::vector<tune::EarlierRun> earlier;
        if (targets_.earlier) earlier = targets_.earlier(proposal.kernel);
        try {
            return std::make_unique<Track>(proposal, proposer, where, seed, earlier);
        } catch (const UsageError& error) {
            std::string reason = fmt::format("unusable tunables: {}", error.what());
            proposal.kernel.space = {};
            proposal.kernel.initial.clear();
            auto track = std::make_unique<Track>(std::move(proposal), proposer, where, seed);
            track->give_up(reason);
            return track;
        }
    }

    // ---- measuring -------------------------------------------------------------------------------------

    struct Choice {
        Track* track;
        Configuration configuration;
    };

    void tune_round(int round) {
        size_t active = 0;
        for (const auto& track : tracks_) {
            track->reweigh(leaders_, one_for_all());
            active += track->active();
        }
        // Rounds grow, so that early ones turn to deepening soon and late ones use the budget.
        spend(std::max<size_t>(6 * active * (2 + static_cast<size_t>(round)) / 2, 4 * batch_size()));
    }

    // So many evaluations, and more while kernels wait for their first.
    void spend(size_t allotted) {
        for (size_t used = 0; (used < allotted || unmeasured() > 0) && !stopped();) {
            take_answers(false);
            const size_t rest = allotted > used ? allotted - used : 0;
            std::vector<Choice> batch = choose(std::min(evaluations_free(), std::max(rest, batch_size())));
            if (batch.empty()) return;
            used += batch.size();
            measure(batch);
        }
    }

    // The most promising track of which something can be measured; null: none.
    Track* most_promising() const {
        Track* best = nullptr;
        double highest = 0;
        for (const auto& track : tracks_) {
            bool waits = track->at_repair || (!track->succeeded() && track->asked() >= tries_of_a_failure);
            if (!track->active() || done(*track) || waits) continue;
            double own = score(*track);
            if (best && own <= highest) continue;
            best = track.get();
            highest = own;
        }
        return best;
    }

    bool measurable() const { return evaluations_free() > 0 && most_promising(); }

    size_t workers() const { return static_cast<size_t>(std::max(1, targets_.workers)); }
    size_t batch_size() const { return usual_batch * workers(); }
    size_t longest_batch() const { return longest_share * workers(); }

    // A batch goes on until its compilations fill the cores: one library serves all that differ in late tunables only.
    std::vector<Choice> choose(size_t most) {
        std::vector<Choice> batch;
        size_t compiled = 0;
        const size_t cores = workers() * static_cast<size_t>(std::max(1, targets_.cores));
        auto complete = [&] { return batch.size() >= batch_size() && compiled % cores == 0; };
        while (batch.size() < std::min(most, longest_batch()) && !complete()) {
            Track* best = most_promising();
            if (!best) break;
            if (std::optional<Configuration> next = best->next()) {
                batch.push_back({best, *next});
                compiled += libraries_.insert(library_of(best->kernel, *next)).second;
            }
        }
        return batch;
    }

    // An upper confidence bound over strategies (UCB1, Auer et al. 2002) on the log scale. The nearness at
    // its best point counts most: a strategy that wins one regime is worth as much as one that is good
    // everywhere. Until it is judged near its own best it comes first.
    double score(const Track& track) const {
        double asked = static_cast<double>(track.asked());
        double bonus = exploration * std::sqrt(std::log(2.0 + result_.evaluations) / (1 + asked));
        if (track.asked() == 0) return track.proven() ? 3e9 : track.proposer->paid() ? 2e9 : 1e9;
        if (!track.succeeded()) return 1e6 - asked;
        double promise = std::log(nearness(track)) + 0.25 * std::log(track.mean_share(leaders_)) +
                         opinion_weight * (opinion_of(track) - 0.5);
        return (track.judged() ? 0 : 1e3 - 10 * asked) + promise + bonus;
    }

    void measure(const std::vector<Choice>& batch) {
        std::vector<EvaluationRequest> requests;
        requests.reserve(batch.size());  // they hold sources
        std::vector<const Kernel*> kernels;
        std::map<std::string, double> best_ns;
        for (const auto& [label, leader] : leaders_) best_ns[label] = leader.nanoseconds;
        for (const Choice& choice : batch)
            for (const ShapePoint& point : choice.track->points) best_ns.try_emplace(point.label, infinity);
        for (const Choice& choice : batch) {
            kernels.push_back(&choice.track->kernel);
            requests.push_back(
                {choice.track->kernel, choice.configuration, choice.track->points_left(), Effort::screen, best_ns});
        }
        std::vector<Evaluation> evaluations = evaluator_.evaluate(std::move(requests));
        result_.evaluations += static_cast<int>(batch.size());
        for (size_t i = 0; i < evaluations.size(); ++i) observer_.on_evaluation(evaluations[i], *kernels[i]);
        drift_.level(evaluations, kernels);
        for (const Evaluation& evaluation : evaluations) lead(leaders_, tracks_, evaluation);
        for (size_t i = 0; i < evaluations.size(); ++i) batch[i].track->record(evaluations[i], leaders_);
        compare_over_all();
        for (const Choice& choice : batch) {
            leave_points(*choice.track);
            give_up_failures(*choice.track);
        }
        check_limits();
    }

    void give_up_failures(Track& track) {
        bool tried = track.asked() >= tries_of_a_failure || track.exhausted();
        bool pending = track.evaluations().size() < track.asked();
        if (!track.active() || track.succeeded() || pending || track.at_repair) return;
        const Evaluation* failure = track.last_failure();
        if (failure && repair(track, *failure)) return;
        if (!tried) return;
        track.give_up(failure ? reason_of_failure(*failure) : "no shape could be measured");
        observer_.on_strategies(strategies());
    }

    // The author mends a kernel that never worked: the mended one takes its place.
    bool repair(Track& track, const Evaluation& failure) {
        if (track.repair_tried || !room_for_ideas()) return false;
        track.repair_tried = true;
        tell_best();
        return track.at_repair = track.proposer->repair(track.strategy, track.kernel, failure);
    }

    // ---- deciding --------------------------------------------------------------------------------------

    bool one_for_all() const { return settings_.winners == 1; }

    // Where one kernel is to serve all shapes: what each track loses over them, after every batch.
    void compare_over_all() {
        if (!one_for_all()) return;
        leader_over_all_ = nullptr;
        for (const auto& track : tracks_) {
            const double cost = costs_[track.get()] = track->least_cost(leaders_);
            if (cost < (leader_over_all_ ? costs_[leader_over_all_] : infinity)) leader_over_all_ = track.get();
        }
    }

    // To the lead, where it is nearest, or over all points where one kernel is to serve all. Of a measured track.
    double nearness(const Track& track) const {
        return one_for_all() ? costs_.at(leader_over_all_) / costs_.at(&track) : track.best_share(leaders_);
    }

    bool beaten_everywhere(const Track& track) const { return track.succeeded() && nearness(track) < leading; }

    // Below this share of the lead something is out of reach, which shrinks as more is known.
    double reach() const {
        static constexpr double reaches[] = {0.6, 0.75, 0.85, 0.9, 0.95};
        return reaches[std::min<size_t>(static_cast<size_t>(result_.rounds) - 1, std::size(reaches) - 1)];
    }

    void leave_points(Track& track) {
        if (track.judged() && !one_for_all()) leave_slow_points(track, leaders_, reach());
    }

    // Those that lead nowhere go as soon as they are out of reach.
    void prune() {
        for (const auto& track : tracks_) {
            if (!track->active()) continue;
            track->strategy.confidence = track->mean_share(leaders_);
            if (!beaten_everywhere(*track) || !track->judged()) continue;
            if (track->done() || nearness(*track) < reach()) track->give_up(reason_of_defeat(*track));
        }
    }

    std::string reason_of_defeat(const Track& track) const {
        if (one_for_all())
            return fmt::format(
                "beaten over all shapes together: {:.2f}× slower than {} ({} of {} configurations tried)",
                1 / nearness(track), leader_over_all_->strategy.id, track.asked(), track.configurations());
        std::string label = track.closest(leaders_);
        const Track& winner = *tracks_[leaders_.at(label).track];
        return fmt::format(
            "beaten at every shape, closest at {}: {:.2f}× slower than {} ({} of {} configurations tried)", label,
            1 / track.share(label, leaders_), winner.strategy.id, track.asked(), track.configurations());
    }

    bool deepen() {
        std::vector<Track*> beam;
        for (const auto& track : tracks_)
            if (track->active() && track->succeeded() && track->judged()) beam.push_back(track.get());
        std::stable_sort(beam.begin(), beam.end(), [&](const Track* a, const Track* b) {
            return nearness(*a) * a->mean_share(leaders_) > nearness(*b) * b->mean_share(leaders_);
        });
        beam.resize(std::min(beam.size(), static_cast<size_t>(std::max(settings_.beam, 1))));
        tell_best();
        bool added = false;
        for (Track* track : beam) {
            for (Proposer* proposer : proposers_) {
                bool asked = proposer == track->proposer || proposer->deepens_others();
                if (!asked || track->silent.count(proposer)) continue;
                if (!room_for_ideas()) break;
                added = deepen(*track, *proposer) || added;
            }
        }
        if (added) observer_.on_strategies(strategies());
        return added;
    }

    void tell_best() {
        const std::optional<BestKnown> best = best_known(tracks_, leaders_);
        if (!best) return;
        for (Proposer* proposer : proposers_) proposer->hear(*best);
    }

    bool deepen(Track& track, Proposer& proposer) {
        const Evaluation& best = *track.best_evaluation(leaders_);
        Kernel kernel = track.kernel;
        kernel.initial = best.configuration;
        std::vector<Proposal> proposals = proposer.deepen(track.strategy, kernel, best, family_of(track, tracks_));
        if (proposals.empty()) track.silent.insert(&proposer);
        bool added = false;
        for (const Proposal& proposal : proposals) added = add(proposal, &proposer, &track) || added;
        return added;
    }

    // New plans before the search gives up.
    bool widen() {
        tell_best();
        bool asked = false;
        for (Proposer* proposer : proposers_) {
            if (!room_for_ideas()) break;
            asked = proposer->widen(strategies()) || asked;
        }
        return asked;
    }

    // What proposers think of the strategies that are left, where there is a choice; opinions only nudge.
    void ask_opinions() {
        const auto left =
            std::count_if(tracks_.begin(), tracks_.end(), [this](const auto& t) { return t->active() && !done(*t); });
        if (left < 2 || reached()) return;
        for (Proposer* proposer : proposers_) proposer->score(strategies());
    }

    double opinion_of(const Track& track) const {
        auto found = opinions_.find(track.strategy.id);
        return found == opinions_.end() ? 0.5 : found->second;
    }

    // ---- stopping --------------------------------------------------------------------------------------

    bool done(const Track& track) const { return settings_.exhaustive ? track.exhausted() : track.done(); }

    size_t evaluations_left() const {
        if (settings_.evaluations <= 0) return longest_batch();
        return static_cast<size_t>(std::max(settings_.evaluations - result_.evaluations, 0));
    }

    // Not spoken for by kernels that are to come.
    size_t evaluations_free() const {
        const size_t left = evaluations_left();
        return settings_.evaluations <= 0 ? left : left - std::min(left, expected());
    }

    // Kernels that wait for their first configuration.
    size_t unmeasured(bool paid_only = false) const {
        return static_cast<size_t>(std::count_if(tracks_.begin(), tracks_.end(), [&](const auto& track) {
            return track->active() && track->asked() == 0 && (track->proposer->paid() || !paid_only);
        }));
    }

    // One more kernel could still be measured.
    bool room_for_ideas() {
        if (observer_.stop_requested() || observer_.seconds_left() <= 0 || reached()) return false;
        return settings_.evaluations <= 0 || evaluations_free() > unmeasured();
    }

    bool nothing_left() const {
        return std::all_of(tracks_.begin(), tracks_.end(), [this](const auto& t) { return !t->active() || done(*t); });
    }

    double geometric_mean_of_best() const {
        std::vector<double> values;
        for (const auto& [label, leader] : leaders_) values.push_back(leader.nanoseconds);
        return stats::geometric_mean(values);  // NaN before the first success: compares as a gain
    }

    void check_limits() {
        if (observer_.stop_requested()) stop("interrupted");
        else if (evaluations_left() == 0) stop("evaluations");
        else if (observer_.seconds_left() <= 0) stop("budget");
        else if (unmeasured(true) > 0 || expected() > 0)
            return;  // paid for: looked at before the search ends for what others reached
        else if (target_reached()) stop("target");
        else if (reached()) stop("roofline");
    }

    // What the user wants, or all that the machine allows.
    bool reached() const { return target_reached() || (!settings_.exhaustive && roofline_is_reached()); }

    bool stopped() {
        if (result_.stopped_by.empty() && observer_.stop_requested()) stop("interrupted");
        if (result_.stopped_by.empty() && observer_.seconds_left() <= 0) stop("budget");
        return !result_.stopped_by.empty();
    }

    void stop(const std::string& why) {
        if (result_.stopped_by.empty()) result_.stopped_by = why;
    }

    // Of what the dispatching function could choose; infinity: nothing yet.
    double best_nanoseconds(const std::string& label) const {
        auto leader = leaders_.find(label);
        if (leader == leaders_.end()) return infinity;
        const Evaluation* best = leader_over_all_ ? leader_over_all_->best_evaluation(leaders_) : nullptr;
        return best ? usable_nanoseconds(*best, label) : leader->second.nanoseconds;
    }

    bool target_reached() const {
        if (settings_.target_speedup <= 0 || targets_.baseline_ns.empty()) return false;
        std::vector<double> speedups;
        for (const auto& [label, nanoseconds] : targets_.baseline_ns)
            speedups.push_back(nanoseconds / best_nanoseconds(label));
        return stats::geometric_mean(speedups) >= settings_.target_speedup;
    }

    // At every point: one whose roofline is unknown, or was beaten, may always be improved.
    bool roofline_is_reached() const {
        return !points_.empty() && std::all_of(points_.begin(), points_.end(), [&](const ShapePoint& point) {
            auto roofline = targets_.roofline_ns.find(point.label);
            if (roofline == targets_.roofline_ns.end()) return false;
            const double share = roofline->second / best_nanoseconds(point.label);
            return share >= roofline_reached && share <= roofline_exceeded;
        });
    }

    // ---- telling ---------------------------------------------------------------------------------------

    std::string describe_round() const {
        size_t active = 0;
        for (const auto& track : tracks_) active += track->active();
        return fmt::format("{} strategies active, {} evaluations so far", active, result_.evaluations);
    }

    std::vector<Strategy> strategies() const { return strategies_of(tracks_); }

    std::map<const Track*, std::vector<std::string>> wins_by_track() const {
        std::map<const Track*, std::vector<std::string>> wins;
        if (leader_over_all_) return {{leader_over_all_, {together}}};
        for (const ShapePoint& point : points_)
            if (auto leader = leaders_.find(point.label); leader != leaders_.end())
                wins[tracks_[leader->second.track].get()].push_back(point.label);
        return wins;
    }

    void conclude() {
        const std::map<const Track*, std::vector<std::string>> wins = wins_by_track();
        for (const auto& owned : tracks_) {
            Track& track = *owned;
            if (!track.active()) continue;
            track.strategy.confidence = track.mean_share(leaders_);
            if (auto own = wins.find(&track); own != wins.end()) {
                track.strategy.state = Strategy::State::winner;
                track.strategy.reason = "fastest at " + join(own->second, ", ");
            } else if (beaten_everywhere(track) && track.judged()) {
                track.give_up(reason_of_defeat(track));
            } else if (track.asked() == 0) {
                track.strategy.reason = fmt::format("not measured: the search ended first ({})", result_.stopped_by);
            } else if (beaten_everywhere(track) || !track.succeeded()) {
                track.strategy.reason =
                    fmt::format("not judged to its end: the search stopped after {} of {} configurations",
                                track.evaluations().size(), track.configurations());
            } else {
                track.strategy.reason =
                    fmt::format("within 3% of the best at {}", one_for_all() ? together : track.closest(leaders_));
            }
        }
        result_.strategies = strategies();
        std::vector<const Track*> all;
        for (const auto& track : tracks_) all.push_back(track.get());
        result_.finalists = choose_finalists(points_, all, leaders_, one_for_all());
        result_.reserves = choose_reserves(points_, all, leaders_);
    }

    const std::vector<ShapePoint>& points_;
    const std::vector<Proposer*>& proposers_;
    Evaluator& evaluator_;
    const RunSettings& settings_;
    const Targets& targets_;
    Observer& observer_;
    Drift drift_;
    Tracks tracks_;
    Leaders leaders_;
    std::map<const Track*, double> costs_;    // over all shapes; only where one kernel is to serve them
    const Track* leader_over_all_ = nullptr;  // of the least cost
    std::set<std::string> libraries_;         // that were asked for
    std::map<std::string, double> opinions_;  // by strategy, in [0, 1]
    bool news_ = false;                       // kernels came later, since the round before
    Result result_;
};

}  // namespace

Result run(const std::vector<ShapePoint>& points, const std::vector<Proposer*>& proposers, Evaluator& evaluator,
           const RunSettings& settings, const Targets& targets, Observer& observer) {
    return Search(points, proposers, evaluator, settings, targets, observer).run();
}

}  // namespace strop::search
