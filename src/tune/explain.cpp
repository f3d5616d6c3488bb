#include "tune/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "stats/sample.h"
#include "tune/model.h"

namespace strop::tune {

namespace {

constexpr size_t most_observations = 400;
constexpr size_t most_predictions = 5000;
constexpr size_t folds = 5;
constexpr double least_share = 0.005;

struct Observations {
    std::vector<size_t> rows;
    std::vector<double> log_costs;
};

Observations successes(const std::vector<size_t>& rows, const std::vector<double>& costs) {
    std::vector<size_t> order;
    for (size_t i = 0; i < rows.size(); ++i)
        if (costs[i] < std::numeric_limits<double>::infinity()) order.push_back(i);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    order.resize(std::min(order.size(), most_observations));
    Observations result;
    for (size_t i : order) {
        result.rows.push_back(rows[i]);
        result.log_costs.push_back(std::log(costs[i]));
    }
    return result;
}

// Log costs of `wanted` as a model sees them that was fitted to the observations but every `folds`th from
// `left_out` on.
std::vector<double> predict(const Space& space, const Observations& observations, const std::vector<size_t>& wanted,
                            size_t left_out) {
    CostModel model(space, nullptr);
    for (size_t i = 0; i < observations.rows.size(); ++i)
        if (i % folds != left_out) model.observe(observations.rows[i], observations.log_costs[i]);
    model.learn();
    model.set_candidates(wanted);
    model.predict();
    std::vector<double> predicted;
    for (size_t c = 0; c < wanted.size(); ++c) predicted.push_back(model.mean(c));
    return predicted;
}

double held_out_error(const Space& space, const Observations& observations) {
    std::vector<double> errors;
    for (size_t fold = 0; fold < folds; ++fold) {
        std::vector<size_t> rows;
        std::vector<double> measured;
        for (size_t i = fold; i < observations.rows.size(); i += folds) {
            rows.push_back(observations.rows[i]);
            measured.push_back(observations.log_costs[i]);
        }
        std::vector<double> predicted = predict(space, observations, rows, fold);
        for (size_t i = 0; i < rows.size(); ++i) errors.push_back(std::fabs(std::exp(predicted[i] - measured[i]) - 1));
    }
    return stats::median(errors);
}

// Predictions over a sample of the space, and the variance that stays when some tunables are held.
class Decomposition {
public:
    Decomposition(const Space& space, const Observations& observations) {
        std::vector<size_t> rows;
        std::mt19937_64 random(2);
        if (space.size() <= most_predictions)
            for (size_t row = 0; row < space.size(); ++row) rows.push_back(row);
        else
            while (rows.size() < most_predictions) rows.push_back(random() % space.size());
        for (size_t row : rows) points_.push_back(space.coordinates(row));
        predicted_ = predict(space, observations, rows, folds);
        mean_ = std::accumulate(predicted_.begin(), predicted_.end(), 0.0) / static_cast<double>(rows.size());
        for (double value : predicted_) variance_ += (value - mean_) * (value - mean_);
    }

    struct Group {
        double sum = 0, count = 0;
        double mean() const { return sum / count; }
    };

    std::map<std::vector<uint16_t>, Group> groups(const std::vector<size_t>& tunables) const {
        std::map<std::vector<uint16_t>, Group> result;
        for (size_t i = 0; i < points_.size(); ++i) {
            std::vector<uint16_t> key;
            for (size_t t : tunables) key.push_back(points_[i][t]);
            Group& group = result[key];
            group.sum += predicted_[i];
            ++group.count;
        }
        return result;
    }

    // Of the variance, what the tunables together account for.
    double share(const std::vector<size_t>& tunables) const {
        if (variance_ <= 0) return 0;
        double between = 0;
        for (const auto& [key, group] : groups(tunables))
            between += group.count * (group.mean() - mean_) * (group.mean() - mean_);
        return between / variance_;
    }

private:
    std::vector<std::vector<uint16_t>> points_;
    std::vector<double> predicted_;
    double mean_ = 0, variance_ = 0;
};

}  // namespace

Explanation explain(const Space& space, const std::vector<size_t>& rows, const std::vector<double>& costs) {
    Explanation result;
    Observations observations = successes(rows, costs);
    result.measured = observations.rows.size();
    if (result.measured < least_measured) return result;
    result.error = held_out_error(space, observations);
    Decomposition decomposition(space, observations);
    const std::vector<Tunable>& tunables = space.tunables();
    std::vector<double> own;
    for (size_t t = 0; t < tunables.size(); ++t) {
        own.push_back(decomposition.share({t}));
        if (own[t] >= least_share) result.impacts.push_back({{tunables[t].name}, own[t]});
    }
    for (size_t t = 0; t < tunables.size(); ++t)
        for (size_t u = t + 1; u < tunables.size(); ++u) {
            double both = decomposition.share({t, u}) - own[t] - own[u];
            if (both >= least_share) result.impacts.push_back({{tunables[t].name, tunables[u].name}, both});
        }
    std::stable_sort(result.impacts.begin(), result.impacts.end(),
                     [](const Impact& a, const Impact& b) { return a.share > b.share; });
    for (size_t t = 0; t < tunables.size(); ++t) {
        auto groups = decomposition.groups({t});
        if (groups.size() < 2) continue;
        double lowest = std::numeric_limits<double>::infinity();
        for (const auto& [key, group] : groups) lowest = std::min(lowest, group.mean());
        for (const auto& [key, group] : groups)
            result.values.push_back({tunables[t].name, tunables[t].values[key[0]], std::exp(group.mean() - lowest)});
    }
    return result;
}

}  // namespace strop::tune
