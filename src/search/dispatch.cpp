#include "search/dispatch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/strings.h"
#include "search/shapes.h"

namespace strop::search {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double same = 0.02;               // log ratio below which two kernels are one winner
constexpr double clearly_different = 0.04;  // log ratio above which a border between two shapes is worth finding
constexpr double in_finals = 1.15;          // of the best screening time at a point
constexpr size_t finalists_at_a_point = 4;
constexpr size_t most_probes = 96;
constexpr size_t probes_in_a_batch = 4;
constexpr double weight_of_a_labelled_point = 20;  // the user named it: the dispatch has to be right there
constexpr double share_of_finals = 0.35;           // of the time
constexpr double most_doubt = 1;                   // log ratio: nothing is known
constexpr double doubt_of_a_round = 0.15;          // in one process, taken once
constexpr double missing_penalty = 2.3;            // log regret of a kernel without a time at a point

struct Timed {
    double nanoseconds = infinity;
    double doubt = 0;  // of the logarithm
};

// Half of an interval's width on the log scale.
double doubt_of(double low, double high) {
    const double width = low > 0 && high >= low ? std::log(high / low) / 2 : most_doubt;
    return std::min(width, most_doubt);
}

// Of a ratio whose only interval would be over launches, of which there was one: what rounds differ by, and no less
// than chance does to so few.
double doubt_of_rounds(const std::vector<double>& first, const std::vector<double>& other) {
    const size_t rounds = std::min(first.size(), other.size());
    if (rounds == 0) return most_doubt;
    double least = infinity, most = -infinity;
    for (size_t i = 0; i < rounds; ++i) {
        const double ratio = std::log(other[i] / first[i]);
        least = std::min(least, ratio);
        most = std::max(most, ratio);
    }
    const double by_chance = doubt_of_a_round / std::sqrt(static_cast<double>(rounds));
    return std::min(std::max(by_chance, (most - least) / 2), most_doubt);
}

constexpr size_t most_told_failures = 3;

// A candidate with its times in the finals.
struct Finalist {
    Candidate candidate;
    std::string name;
    std::map<std::string, Timed> finals;  // by label; infinity where it failed
    bool alive = true;
    std::string failure;  // the first, in the finals
};

class Planner {
public:
    Planner(const Problem& problem, const std::vector<Candidate>& finalists, Evaluator& evaluator,
            const DispatchOptions& options)
        : problem_(problem),
          evaluator_(evaluator),
          options_(options),
          shapes_(problem, options.max_bytes, options.seed, problem.points) {
        for (const Candidate& candidate : finalists)
            finalists_.push_back(
                {candidate, fmt::format("{}#{}", candidate.kernel.id, finalists_.size()), {}, true, ""});
    }

    DispatchPlan plan() {
        for (const ShapePoint& point : problem_.points) run_finals(point);
        prepare();
        if (winners_.size() > 1) probe();
        DispatchPlan plan;
        if (winners_.empty()) {
            plan.why_none = why_none();
            return plan;
        }
        for (size_t w : winners_)
            plan.winners.push_back({finalists_[w].candidate.kernel, finalists_[w].candidate.configuration});
        plan.samples = samples_;
        plan.tree = fit_dispatch(problem_, plan.winners, plan.samples);
        return plan;
    }

private:
    double time_left() const {
        double left = options_.seconds - spent_;
        if (options_.seconds_left) left = std::min(left, options_.seconds_left());
        return options_.stop && options_.stop() ? 0 : left;
    }

    bool unconditional(size_t f) const { return !finalists_[f].candidate.kernel.condition; }

    Contender contender(size_t f) const {
        return {finalists_[f].name, {}, finalists_[f].candidate.kernel, finalists_[f].candidate.configuration};
    }

    Comparison compare(const std::vector<size_t>& who, const std::vector<ShapePoint>& points, Effort effort,
                       double seconds_per_point) {
        ComparisonRequest request;
        for (size_t f : who) request.contenders.push_back(contender(f));
        request.points = points;
        request.effort = effort;
        request.seconds_per_point = seconds_per_point;
        Comparison comparison = evaluator_.compare(request);
        spent_ += comparison.compile_seconds + comparison.check_seconds + comparison.time_seconds +
                  comparison.reference_seconds;
        return comparison;
    }

    static void note_failure(Finalist& finalist, const ShapePoint& point, const ContenderResult& result) {
        if (!finalist.failure.empty() || result.verdict == Verdict::unsupported) return;
        finalist.failure = fmt::format("{} at {}: {}: {}", finalist.candidate.kernel.id, point.label,
                                       name_of(result.verdict), result.evidence);
    }

    std::string why_none() const {
        std::string why = "no kernel that may be called at every shape passed the thorough check";
        size_t told = 0;
        for (const Finalist& finalist : finalists_)
            if (!finalist.failure.empty() && told < most_told_failures)
                why += (told++ == 0 ? ": " : "; ") + finalist.failure;
        return why;
    }

    // Times on one scale: the first contender's median and the paired ratios to it. A kernel that is wrong
    // anywhere is out; one that ran into a limit is only out of this point.
    std::vector<Timed> times_of(const std::vector<size_t>& who, const PointComparison& at) {
        std::vector<Timed> times(who.size());
        bool paired = !at.results.empty() && at.results[0].verdict == Verdict::ok;
        for (size_t i = 0; i < std::min(who.size(), at.results.size()); ++i) {
            const ContenderResult& result = at.results[i];
            if (result.verdict != Verdict::ok) {
                bool limit = result.verdict == Verdict::timed_out || result.verdict == Verdict::over_limit;
                note_failure(finalists_[who[i]], at.point, result);
                finalists_[who[i]].alive = finalists_[who[i]].alive && limit;
                continue;
            }
            bool ratio = i > 0 && paired && result.speedup.ratio > 0;
            if (deciding_ns(result.time, result.cold) > result.time.median_ns)
                times[i] = {result.cold.median_ns, doubt_of(result.cold.low_ns, result.cold.high_ns)};
            else if (ratio)
                times[i] = {at.results[0].time.median_ns * result.speedup.ratio,
                            std::isfinite(result.speedup.high)
                                ? doubt_of(result.speedup.low, result.speedup.high)
                                : doubt_of_rounds(at.results[0].time.samples_ns, result.time.samples_ns)};
            else  // the first one is what the others are doubted against
                times[i] = {result.time.median_ns, i == 0 ? 0 : doubt_of(result.time.low_ns, result.time.high_ns)};
        }
        return times;
    }

    // ---- finals ----------------------------------------------------------------------------------------

    // Where one has to serve all shapes, the same everywhere.
    std::vector<size_t> field_for_all() const {
        std::vector<size_t> field;
        for (size_t f = 0; f < finalists_.size() && field.size() < finalists_at_a_point; ++f)
            if (finalists_[f].alive && unconditional(f)) field.push_back(f);
        return field;
    }

    // The nearest to the best in screening, and always the best kernel that may run anywhere.
    std::vector<size_t> field_at(const std::string& label) const {
        if (options_.most_winners == 1) return field_for_all();
        std::vector<std::pair<double, size_t>> order;
        for (size_t f = 0; f < finalists_.size(); ++f) {
            auto own = finalists_[f].candidate.nanoseconds.find(label);
            if (finalists_[f].alive && own != finalists_[f].candidate.nanoseconds.end())
                order.push_back({own->second, f});
        }
        std::sort(order.begin(), order.end());
        std::vector<size_t> field;
        bool free = false;
        for (const auto& [nanoseconds, f] : order) {
            bool near = field.size() < finalists_at_a_point && nanoseconds <= order[0].first * in_finals;
            if (near || (unconditional(f) && !free)) field.push_back(f);
            free = free || unconditional(f);
        }
        return field;
    }

    void run_finals(const ShapePoint& point) {
        if (options_.stop && options_.stop()) return;
        double seconds = share_of_finals * options_.seconds / static_cast<double>(problem_.points.size());
        std::vector<size_t> field = field_at(point.label);
        while (!field.empty()) {
            Comparison comparison = compare(field, {point}, Effort::full, std::clamp(seconds, 0.05, 1.0));
            if (comparison.points.empty()) return;
            std::vector<Timed> times = times_of(field, comparison.points[0]);
            for (size_t i = 0; i < field.size(); ++i) finalists_[field[i]].finals[point.label] = times[i];
            if (std::any_of(times.begin(), times.end(), [](const Timed& t) { return t.nanoseconds < infinity; }))
                return;
            // Everybody failed at the thorough check: the next in line.
            std::vector<size_t> next = field_at(point.label);
            if (next == field) return;
            field = next;
        }
    }

    // ---- winners ---------------------------------------------------------------------------------------

    double best_at(const std::string& label) const {
        double best = infinity;
        for (const Finalist& finalist : finalists_) {
            auto time = finalist.finals.find(label);
            if (finalist.alive && time != finalist.finals.end()) best = std::min(best, time->second.nanoseconds);
        }
        return best;
    }

    double best_screened_at(const std::string& label) const {
        double best = infinity;
        for (const Finalist& finalist : finalists_) {
            auto time = finalist.candidate.nanoseconds.find(label);
            if (finalist.alive && time != finalist.candidate.nanoseconds.end()) best = std::min(best, time->second);
        }
        return best;
    }

    // Log ratio to the best, finals to finals and screening to screening: they were not measured side by side.
    double regret(const Finalist& finalist, const std::string& label) const {
        double best = best_at(label);
        auto final_time = finalist.finals.find(label);
        if (final_time != finalist.finals.end() && best < infinity)
            return final_time->second.nanoseconds < infinity ? std::log(final_time->second.nanoseconds / best)
                                                             : missing_penalty;
        auto screened = finalist.candidate.nanoseconds.find(label);
        if (screened == finalist.candidate.nanoseconds.end()) return missing_penalty;
        return std::log(screened->second / best_screened_at(label));
    }

    // As known now, once: they are asked for many times over.
    void take_regrets() {
        regrets_.clear();
        for (const Finalist& finalist : finalists_) {
            std::vector<double>& own = regrets_.emplace_back();
            for (const ShapePoint& point : problem_.points) own.push_back(regret(finalist, point.label));
        }
    }

    // At each point that of the winner which loses least there.
    std::vector<double> least_regrets() const {
        std::vector<double> least(problem_.points.size(), infinity);
        for (size_t w : winners_)
            for (size_t p = 0; p < least.size(); ++p) least[p] = std::min(least[p], regrets_[w][p]);
        return least;
    }

    static double sum_of(const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
    }

    // Greedy cover: first the kernel without a condition that loses least, then whoever saves most.
    void choose_winners() {
        take_regrets();
        double least = infinity;
        for (size_t f = 0; f < finalists_.size(); ++f) {
            if (!finalists_[f].alive || !unconditional(f) || sum_of(regrets_[f]) >= least) continue;
            least = sum_of(regrets_[f]);
            winners_ = {f};
        }
        if (winners_.empty()) return;
        while (winners_.size() < options_.most_winners) {
            const std::vector<double> known = least_regrets();
            double most = 0;
            size_t choice = finalists_.size();
            for (size_t f = 0; f < finalists_.size(); ++f) {
                double sum = 0, highest = 0;
                for (size_t p = 0; p < known.size(); ++p) {
                    double saved = std::max(known[p] - regrets_[f][p], 0.0);
                    sum += saved;
                    highest = std::max(highest, saved);
                }
                if (!finalists_[f].alive || highest <= same || sum <= most) continue;
                most = sum;
                choice = f;
            }
            if (choice == finalists_.size()) break;
            winners_.push_back(choice);
        }
        exchange_winners();
    }

    // The best one for all shapes may be one too many beside those that came later: a winner makes room for another as
    // long as that saves something.
    void exchange_winners() {
        for (bool gained = winners_.size() > 1; gained;) {
            gained = false;
            for (size_t& winner : winners_)
                for (size_t f = 0; f < finalists_.size(); ++f) {
                    bool known = std::find(winners_.begin(), winners_.end(), f) != winners_.end();
                    if (!finalists_[f].alive || known) continue;
                    const double before = loss();
                    const size_t old = std::exchange(winner, f);
                    if (loss() < before - same) gained = true;
                    else winner = old;
                }
        }
    }

    // At the user's shapes, where the winners alone may be chosen; infinity when none of them runs everywhere.
    double loss() const {
        if (std::none_of(winners_.begin(), winners_.end(), [&](size_t w) { return unconditional(w); })) return infinity;
        return sum_of(least_regrets());
    }

    bool someone_died() const {
        return std::any_of(winners_.begin(), winners_.end(), [&](size_t w) { return !finalists_[w].alive; });
    }

    // Again when a winner turns out wrong: whoever comes next may be another kernel altogether.
    void prepare() {
        do {
            samples_.clear();
            winners_.clear();
            choose_winners();
            sample_labelled_points();
        } while (someone_died());
    }

    // ---- samples ---------------------------------------------------------------------------------------

    // The final's time; without one what screening saw.
    static Timed known_time(const Finalist& finalist, const std::string& label) {
        auto time = finalist.finals.find(label);
        if (time != finalist.finals.end()) return time->second;
        auto screened = finalist.candidate.nanoseconds.find(label);
        return screened != finalist.candidate.nanoseconds.end() ? Timed{screened->second, most_doubt} : Timed{};
    }

    static DispatchSample sample_of(const ShapePoint& point, const std::vector<Timed>& times, double weight) {
        DispatchSample sample{point.dims, {}, weight, {}};
        for (const Timed& time : times) {
            sample.nanoseconds.push_back(time.nanoseconds);
            sample.doubt.push_back(time.doubt);
        }
        return sample;
    }

    // The user's own shapes are measured however little time is left: on them the dispatch must be right.
    void sample_labelled_points() {
        for (const ShapePoint& point : problem_.points) {
            bool complete = true;
            std::vector<Timed> times;
            for (size_t w : winners_) {
                bool runs = may_be_called(finalists_[w].candidate.kernel, bindings_of(problem_, point.dims));
                auto time = finalists_[w].finals.find(point.label);
                complete = complete && (!runs || time != finalists_[w].finals.end());
                times.push_back(runs ? known_time(finalists_[w], point.label) : Timed{});
            }
            bool stopped = options_.stop && options_.stop();
            if (complete || winners_.size() == 1 || stopped)
                samples_.push_back(sample_of(point, times, weight_of_a_labelled_point));
            else measure({point}, weight_of_a_labelled_point);
        }
    }

    double seconds_per_probe() const { return 0.03 * static_cast<double>(winners_.size()); }

    // One comparison for all points where the same winners may run.
    void measure(const std::vector<ShapePoint>& points, double weight = 1) {
        std::map<std::vector<size_t>, std::vector<ShapePoint>> groups;
        for (const ShapePoint& point : points) {
            std::vector<size_t> who;
            for (size_t w : winners_)
                if (may_be_called(finalists_[w].candidate.kernel, bindings_of(problem_, point.dims))) who.push_back(w);
            groups[who].push_back(point);
        }
        for (const auto& [who, where] : groups) {
            Comparison comparison = compare(who, where, Effort::screen, seconds_per_probe());
            for (const PointComparison& at : comparison.points) {
                std::vector<Timed> measured = times_of(who, at), times;
                for (size_t w : winners_) {
                    auto found = std::find(who.begin(), who.end(), w);
                    times.push_back(found == who.end() ? Timed{} : measured[static_cast<size_t>(found - who.begin())]);
                }
                samples_.push_back(sample_of(at.point, times, weight));
            }
        }
    }

    // ---- probes ----------------------------------------------------------------------------------------

    void probe() {
        std::vector<ShapePoint> around = around_labelled_points();
        size_t used = 0, next = 0;
        double longest = 0;
        while (used < most_probes && winners_.size() > 1 && time_left() > longest) {
            std::vector<ShapePoint> batch;
            // Half where the border runs, half as the held-out shapes will be drawn.
            for (size_t i = 0; i < probes_in_a_batch / 2; ++i) {
                std::optional<ShapePoint> point = at_a_border();
                if (!point && next < around.size()) point = around[next++];
                if (point) batch.push_back(*point);
            }
            while (batch.size() < probes_in_a_batch) {
                std::optional<ShapePoint> point = shapes_.draw(false);
                if (!point) break;
                batch.push_back(*point);
            }
            if (batch.empty()) return;
            used += batch.size();
            double before = spent_;
            measure(batch);
            if (someone_died()) prepare();
            longest = std::max(longest, spent_ - before);
        }
    }

    // Between labelled points and one step of four around them.
    std::vector<ShapePoint> around_labelled_points() {
        std::vector<ShapePoint> result;
        auto keep = [&](std::optional<ShapePoint> point) {
            if (point) result.push_back(*point);
        };
        const std::vector<ShapePoint>& known = problem_.points;
        for (size_t i = 0; i < known.size(); ++i)
            for (size_t j = i + 1; j < known.size(); ++j) keep(shapes_.between(known[i].dims, known[j].dims));
        for (const ShapePoint& point : known)
            for (const std::string& dimension : problem_.dimensions)
                for (double factor : {0.25, 4.0}) keep(shapes_.scaled(point.dims, dimension, factor));
        return result;
    }

    static double distance(const Dimensions& a, const Dimensions& b) {
        double sum = 0;
        for (const auto& [name, value] : a) {
            double log = std::log(std::max<double>(static_cast<double>(value), 0.5)) -
                         std::log(std::max<double>(static_cast<double>(b.at(name)), 0.5));
            sum += log * log;
        }
        return std::sqrt(sum);
    }

    static bool disagree(const DispatchSample& a, const DispatchSample& b) {
        auto best = [](const DispatchSample& s) {
            return std::min_element(s.nanoseconds.begin(), s.nanoseconds.end()) - s.nanoseconds.begin();
        };
        std::ptrdiff_t x = best(a), y = best(b);
        auto loss = [](const DispatchSample& s, std::ptrdiff_t taken, std::ptrdiff_t least) {
            return std::log(s.nanoseconds[static_cast<size_t>(taken)] / s.nanoseconds[static_cast<size_t>(least)]);
        };
        return x != y && loss(a, y, x) > clearly_different && loss(b, x, y) > clearly_different;
    }

    // The middle of the most distant neighbours (no third sample is nearer to both) whose winners differ.
    std::optional<ShapePoint> at_a_border() {
        std::vector<std::tuple<double, size_t, size_t>> pairs;
        for (size_t i = 0; i < samples_.size(); ++i)
            for (size_t j = i + 1; j < samples_.size(); ++j) {
                double apart = distance(samples_[i].dims, samples_[j].dims);
                if (apart < std::log(1.2) || !disagree(samples_[i], samples_[j])) continue;
                bool neighbours = std::none_of(samples_.begin(), samples_.end(), [&](const DispatchSample& k) {
                    return std::max(distance(k.dims, samples_[i].dims), distance(k.dims, samples_[j].dims)) <
                           apart - 1e-9;
                });
                if (neighbours) pairs.push_back({-apart, i, j});
            }
        std::sort(pairs.begin(), pairs.end());
        for (const auto& [apart, i, j] : pairs)
            if (std::optional<ShapePoint> point = shapes_.between(samples_[i].dims, samples_[j].dims)) return point;
        return std::nullopt;
    }

    const Problem& problem_;
    Evaluator& evaluator_;
    const DispatchOptions& options_;
    ShapeSource shapes_;
    std::vector<Finalist> finalists_;
    std::vector<size_t> winners_;               // indices of finalists
    std::vector<std::vector<double>> regrets_;  // finalist × point, as the winners were chosen
    std::vector<DispatchSample> samples_;       // one time a winner
    double spent_ = 0;
};

// ---- regimes ---------------------------------------------------------------------------------------------

// What a path through the tree says of one feature.
struct Bounds {
    std::optional<int64_t> above, at_most;
};
using Path = std::map<Expression, Bounds>;

std::string describe(const Path& path) {
    std::vector<std::string> parts;
    for (const auto& [feature, bounds] : path) {
        if (bounds.above) parts.push_back(fmt::format("{} > {}", feature.text(), *bounds.above));
        if (bounds.at_most) parts.push_back(fmt::format("{} <= {}", feature.text(), *bounds.at_most));
    }
    return join(parts, " and ");
}

void collect_paths(const DispatchTree& tree, int at, const Path& path, std::map<int, std::vector<std::string>>& paths) {
    const DispatchNode& node = tree.nodes[static_cast<size_t>(at)];
    if (node.winner >= 0) {
        paths[node.winner].push_back(describe(path));
        return;
    }
    Path yes = path, no = path;
    Bounds &below = yes[node.feature], &above = no[node.feature];
    below.at_most = std::min(below.at_most.value_or(node.threshold), node.threshold);
    above.above = std::max(above.above.value_or(node.threshold), node.threshold);
    collect_paths(tree, node.yes, yes, paths);
    collect_paths(tree, node.no, no, paths);
}

std::vector<Regime> regimes_of(const Problem& problem, const DispatchPlan& plan) {
    std::map<int, std::vector<std::string>> paths, labels;
    if (!plan.tree.nodes.empty()) collect_paths(plan.tree, 0, {}, paths);
    paths[plan.tree.fallback];
    for (const ShapePoint& point : problem.points)
        labels[pick(plan.tree, plan.winners, problem, point.dims)].push_back(point.label);
    std::vector<Regime> regimes;
    Regime last;
    for (const auto& [winner, conditions] : paths) {
        const DispatchWinner& own = plan.winners[static_cast<size_t>(winner)];
        Regime regime{own.kernel.id, own.kernel.strategy, own.configuration, join(conditions, " or "), labels[winner]};
        if (regime.condition.empty() && own.kernel.condition) regime.condition = own.kernel.condition->text();
        if (winner == plan.tree.fallback) last = regime;
        else regimes.push_back(regime);
    }
    last.condition = regimes.empty() ? "all shapes" : "otherwise";
    regimes.push_back(last);
    return regimes;
}

// Where every leaf's kernel may be called everywhere, nothing falls back: the fallback is one of them.
void settle_fallback(DispatchPlan& plan) {
    int leaf = -1;
    for (const DispatchNode& node : plan.tree.nodes) {
        if (node.winner < 0) continue;
        if (plan.winners[static_cast<size_t>(node.winner)].kernel.condition || node.winner == plan.tree.fallback)
            return;
        leaf = node.winner;
    }
    if (leaf >= 0) plan.tree.fallback = leaf;
}

// Winners that no leaf names are dropped, unless one is the fallback.
void drop_unused(DispatchPlan& plan) {
    settle_fallback(plan);
    std::set<int> used = {plan.tree.fallback};
    for (const DispatchNode& node : plan.tree.nodes)
        if (node.winner >= 0) used.insert(node.winner);
    std::map<int, int> renamed;
    std::vector<DispatchWinner> winners;
    for (int winner : used) {
        renamed[winner] = static_cast<int>(winners.size());
        winners.push_back(plan.winners[static_cast<size_t>(winner)]);
    }
    for (DispatchNode& node : plan.tree.nodes)
        if (node.winner >= 0) node.winner = renamed[node.winner];
    plan.tree.fallback = renamed[plan.tree.fallback];
    for (DispatchSample& sample : plan.samples) {
        std::vector<double> times;
        for (int winner : used) times.push_back(sample.nanoseconds[static_cast<size_t>(winner)]);
        sample.nanoseconds = std::move(times);
    }
    plan.winners = std::move(winners);
}

}  // namespace

DispatchPlan plan_dispatch(const Problem& problem, const std::vector<Candidate>& finalists, Evaluator& evaluator,
                           const DispatchOptions& options) {
    DispatchPlan plan = Planner(problem, finalists, evaluator, options).plan();
    if (plan.winners.empty()) return plan;
    drop_unused(plan);
    plan.regimes = regimes_of(problem, plan);
    return plan;
}

}  // namespace strop::search
