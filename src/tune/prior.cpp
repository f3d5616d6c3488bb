#include "tune/prior.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tune/costs.h"

namespace strop::tune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t most_nearest = 200;        // measurements that unmeasured rows are guessed from
constexpr double unknown = 0.3;             // weight of the average in a guess
constexpr size_t most_compared = 6;         // runs that are held against the others
constexpr size_t compared_rows = 100;       // of each, at most
constexpr size_t fewest_compared = 12;      // rows that tell something of all weights
constexpr double spread_between_runs = 1;   // of a weight's logarithm
constexpr double worth_of_their_scale = 2;  // observations

size_t differences(const std::vector<uint16_t>& a, const std::vector<uint16_t>& b) {
    uint16_t different = 0;  // as wide as what is compared: the loop becomes vector code
    for (size_t t = 0; t < a.size(); ++t) different = static_cast<uint16_t>(different + (a[t] != b[t]));
    return different;
}

bool worked(double cost) { return cost > 0 && cost < infinity; }

// Log costs around their mean, those far above the median cut as the search's own are; failures get the
// worst.
std::vector<double> centred(const std::vector<double>& costs) {
    std::vector<double> logs;
    for (double cost : costs)
        if (worked(cost)) logs.push_back(std::log(cost));
    if (logs.empty()) return std::vector<double>(costs.size(), 0.0);
    double worst = highest_target(logs), mean = 0;
    for (double value : logs) mean += std::min(value, worst) / static_cast<double>(logs.size());
    std::vector<double> scores;
    for (double cost : costs) scores.push_back((worked(cost) ? std::min(std::log(cost), worst) : worst) - mean);
    return scores;
}

}  // namespace

Prior::Prior(const Space& space, const std::vector<EarlierRun>& runs) : space_(space) {
    for (size_t different = 0; different <= space.tunables().size(); ++different)
        alike_.push_back(std::exp(-1.5 * static_cast<double>(different)));
    for (const EarlierRun& earlier : runs) {
        std::vector<double> scores = centred(earlier.costs);
        std::vector<std::pair<size_t, double>> known;
        for (size_t i = 0; i < scores.size(); ++i)
            if (std::optional<size_t> row = space.find(earlier.configurations[i])) known.emplace_back(*row, scores[i]);
        if (known.empty()) continue;
        std::sort(known.begin(), known.end());
        Run run;
        std::vector<double> log_costs;
        for (const auto& [row, log_cost] : known) {
            run.rows.push_back(row);
            log_costs.push_back(log_cost);
        }
        run.scores = with_ranks(log_costs);
        for (size_t i : informative(log_costs, most_nearest)) {
            run.nearest_rows.push_back(run.rows[i]);
            run.nearest.push_back(space.coordinates(run.rows[i]));
            run.nearest_scores.push_back(run.scores[i]);
        }
        runs_.push_back(std::move(run));
    }
}

// Equal costs share a rank. Ranks have a mean of 0 and the mean square of the costs.
std::vector<Prior::Score> Prior::with_ranks(const std::vector<double>& log_costs) {
    std::vector<size_t> order(log_costs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return log_costs[a] < log_costs[b]; });
    std::vector<Score> scores(order.size());
    double cost_squares = 0, rank_squares = 0;
    const double middle = 0.5 * static_cast<double>(order.size() - 1);
    for (size_t first = 0, end = 0; first < order.size(); first = end) {
        while (end < order.size() && log_costs[order[end]] == log_costs[order[first]]) ++end;
        const double cost = log_costs[order[first]], rank = 0.5 * static_cast<double>(first + end - 1) - middle;
        for (size_t i = first; i < end; ++i) scores[order[i]] = {cost, rank};
        cost_squares += static_cast<double>(end - first) * cost * cost;
        rank_squares += static_cast<double>(end - first) * rank * rank;
    }
    for (Score& score : scores) score.rank *= rank_squares > 0 ? std::sqrt(cost_squares / rank_squares) : 0;
    return scores;
}

Prior::Score Prior::score(const Run& run, size_t row) const {
    auto found = std::lower_bound(run.rows.begin(), run.rows.end(), row);
    if (found != run.rows.end() && *found == row) return run.scores[static_cast<size_t>(found - run.rows.begin())];
    std::vector<uint16_t> at = space_.coordinates(row);
    Score sum{0, 0};
    double weight = unknown;
    for (size_t i = 0; i < run.nearest.size(); ++i) {
        double own = alike_[differences(at, run.nearest[i])];
        sum.log_cost += own * run.nearest_scores[i].log_cost;
        sum.rank += own * run.nearest_scores[i].rank;
        weight += own;
    }
    return {sum.log_cost / weight, sum.rank / weight};
}

std::vector<double> Prior::scores(size_t row) const {
    std::vector<double> result(2 * runs_.size());
    for (size_t r = 0; r < runs_.size(); ++r) {
        const Score said = score(runs_[r], row);
        result[r] = said.log_cost;
        result[runs_.size() + r] = said.rank;
    }
    return result;
}

Posterior Prior::beyond_the_others(size_t run, const Positions& positions) const {
    const Run& own = runs_[run];
    std::vector<Point> points;
    std::vector<double> costs;
    std::vector<std::vector<double>> others(runs_.size() - 1);
    const size_t step = std::max<size_t>(own.nearest.size() / compared_rows, 1);
    for (size_t i = 0; i < own.nearest.size(); i += step) {
        points.push_back(own.nearest[i]);
        costs.push_back(own.nearest_scores[i].log_cost);
        for (size_t r = 0; r < others.size(); ++r)
            others[r].push_back(score(runs_[r < run ? r : r + 1], own.nearest_rows[i]).log_cost);
    }
    Posterior posterior(positions, points, std::move(costs), {usual_weights(positions.tunables())});
    posterior.hear(std::move(others));
    return posterior;
}

Belief Prior::between_runs(const Positions& positions) const {
    Belief belief = {usual_weights(positions.tunables())};
    std::vector<Weights> weights;
    std::vector<double> scales;
    for (size_t run = 0; run < runs_.size() && runs_.size() > 1 && scales.size() < most_compared; ++run) {
        if (runs_[run].nearest.size() < fewest_compared) continue;
        const Posterior posterior = beyond_the_others(run, positions);
        weights.push_back(most_probable(posterior, belief.weights));
        scales.push_back(posterior.scale(weights.back()));
    }
    if (scales.empty()) return belief;
    const auto mean = [&](auto value) {
        double sum = 0;
        for (size_t i = 0; i < scales.size(); ++i) sum += std::log(value(i));
        return std::exp(sum / static_cast<double>(scales.size()));
    };
    for (size_t t = 0; t < positions.tunables(); ++t)
        belief.weights.of[t] = mean([&](size_t i) { return weights[i].of[t]; });
    belief.weights.hamming = mean([&](size_t i) { return weights[i].hamming; });
    belief.weights.noise = mean([&](size_t i) { return weights[i].noise; });
    belief.spread = spread_between_runs;
    belief.scale = mean([&](size_t i) { return scales[i]; });
    belief.scale_is_worth = worth_of_their_scale;
    return belief;
}

std::vector<size_t> Prior::best(size_t count) const {
    std::vector<size_t> rows;
    for (const Run& run : runs_) rows.insert(rows.end(), run.rows.begin(), run.rows.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    std::vector<double> scores;
    for (size_t row : rows) {
        double sum = 0;
        for (const Run& run : runs_) sum += score(run, row).log_cost;
        scores.push_back(sum);
    }
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t{0});
    count = std::min(count, rows.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](size_t a, size_t b) { return scores[a] < scores[b] || (scores[a] == scores[b] && a < b); });
    std::vector<size_t> result;
    for (size_t i = 0; i < count; ++i) result.push_back(rows[order[i]]);
    return result;
}

}  // namespace strop::tune
