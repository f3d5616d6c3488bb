#include "tune/searcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <unordered_set>

#include "stats/sample.h"
#include "tune/costs.h"
#include "tune/failures.h"
#include "tune/model.h"

namespace strop::tune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t spread_starts = 8;
constexpr size_t start_draws = 40;  // random rows of which the one that lies farthest is taken
constexpr size_t prior_starts = 3;
constexpr size_t most_candidates = 3000;    // drawn anew now and then, which keeps the search out of ruts
constexpr size_t model_observations = 500;  // beyond, the model costs more than it gains
constexpr int patience = 60;                // measurements without a gain; then the neighbourhood is searched too
constexpr size_t neighbour_turns = 2;       // every so many measurements
constexpr double doubling = 30;             // measurements without a gain that double the model's deviations
constexpr double gain = 0.995;              // less than half a percent is noise

class ModelThenDescent : public Searcher {
public:
    ModelThenDescent(const Space& space, const SearchStart& start)
        : space_(space),
          initial_(start.initial),
          random_(start.seed),
          prior_(space, start.earlier),
          model_(space, prior_.runs() > 0 ? &prior_ : nullptr),
          failures_(space) {
        if (prior_.runs() > 0) starts_ = prior_.best(prior_starts);
        std::reverse(starts_.begin(), starts_.end());
    }

    std::vector<Configuration> propose(size_t count) override {
        std::vector<Configuration> result;
        while (result.size() < count) {
            if (initial_) {
                Configuration initial = *initial_;
                initial_.reset();
                std::optional<size_t> row = space_.find(initial);
                if (row && !seen(*row)) result.push_back(begin(*row));
                if (!row && !outside_.count(initial)) result.push_back(initial);
                continue;
            }
            std::optional<size_t> row = next();
            if (!row) break;
            result.push_back(begin(*row));
        }
        return result;
    }

    void tell(const Configuration& configuration, double cost) override {
        std::optional<size_t> row = space_.find(configuration);
        bool fresh = row ? !told_.count(*row) : !outside_.count(configuration);
        double before = best_cost();
        if (row) {
            proposed_.insert(*row);
            note(*row, cost);
            failures_.observe(*row, cost < infinity);
        } else {
            outside_[configuration] = cost;
        }
        if (cost < before * gain) since_gain_ = 0;
        else if (fresh) ++since_gain_;
    }

    std::optional<Configuration> best() const override {
        std::optional<size_t> row = best_row();
        double inside = row ? told_.at(*row) : infinity;
        const Configuration* outside = nullptr;
        for (const auto& [configuration, cost] : outside_)
            if (cost < inside) {
                inside = cost;
                outside = &configuration;
            }
        if (outside) return *outside;
        return row ? std::optional(space_.configuration(*row)) : std::nullopt;
    }

    bool converged() const override {
        if (proposed_.size() >= space_.size()) return true;
        std::optional<size_t> row = best_row();
        return row && since_gain_ >= patience && fresh_neighbours(*row).empty();
    }

private:
    bool seen(size_t row) const { return proposed_.count(row) > 0; }

    bool worked(size_t row) const {
        auto told = told_.find(row);
        return told != told_.end() && told->second < infinity;
    }

    Configuration begin(size_t row) {
        proposed_.insert(row);
        return space_.configuration(row);
    }

    // The first row with the lowest cost.
    std::optional<size_t> best_row() const { return best_; }

    void note(size_t row, double cost) {
        const bool again = !told_.insert_or_assign(row, cost).second;
        const auto consider = [&](size_t candidate, double its_cost) {
            const double lowest = best_ ? told_.at(*best_) : infinity;
            if (its_cost < lowest || (best_ && its_cost == lowest && candidate < *best_)) best_ = candidate;
        };
        if (!again) return consider(row, cost);
        best_.reset();
        for (const auto& [candidate, its_cost] : told_) consider(candidate, its_cost);
    }

    double best_cost() const {
        double lowest = best_ ? told_.at(*best_) : infinity;
        for (const auto& [configuration, cost] : outside_) lowest = std::min(lowest, cost);
        return lowest;
    }

    std::optional<size_t> next() {
        if (proposed_.size() >= space_.size()) return std::nullopt;
        while (!starts_.empty()) {
            size_t row = starts_.back();
            starts_.pop_back();
            if (!seen(row)) return row;
        }
        std::optional<size_t> best = best_row();
        size_t wanted = model_.asks_earlier_runs() ? 0 : spread_starts + prior_starts;
        if (proposed_.size() < wanted || !best) return far_row();
        const bool modelled = told_.size() <= model_observations;
        if (!modelled || (since_gain_ >= patience && proposed_.size() % neighbour_turns == 0)) {
            std::vector<size_t> around = fresh_neighbours(*best);
            if (!around.empty()) return one_of(around);
        }
        return modelled ? by_model(*best) : random_row();
    }

    std::optional<size_t> random_row() {
        for (int attempt = 0; attempt < 64; ++attempt) {
            size_t row = random_() % space_.size();
            if (!seen(row)) return row;
        }
        size_t start = random_() % space_.size();
        for (size_t i = 0; i < space_.size(); ++i)
            if (size_t row = (start + i) % space_.size(); !seen(row)) return row;
        return std::nullopt;
    }

    // At random, or the one that most probably works.
    size_t one_of(const std::vector<size_t>& rows) {
        if (!failures_.any()) return rows[random_() % rows.size()];
        std::vector<float> success = failures_.success(rows);
        return rows[static_cast<size_t>(std::max_element(success.begin(), success.end()) - success.begin())];
    }

    // Of some random rows the one that is least like any seen and probably works.
    std::optional<size_t> far_row() {
        std::optional<size_t> farthest;
        double lowest = infinity;
        for (size_t draw = 0; draw < start_draws; ++draw) {
            std::optional<size_t> row = random_row();
            if (!row) break;
            double nearest = 0;
            for (size_t other : proposed_) nearest = std::max(nearest, model_.similarity(*row, other));
            if (failures_.any()) nearest = 1 - (1 - nearest) * failures_.success({*row})[0];
            if (nearest >= lowest) continue;
            lowest = nearest;
            farthest = row;
        }
        return farthest;
    }

    std::vector<size_t> fresh_neighbours(size_t row) const {
        for (bool adjacent : {true, false}) {
            std::vector<size_t> fresh;
            for (size_t neighbour : space_.neighbours(row, adjacent))
                if (!seen(neighbour)) fresh.push_back(neighbour);
            if (!fresh.empty()) return fresh;
        }
        return {};
    }

    // ---- the model -------------------------------------------------------------------------------------

    void choose_candidates(size_t best) {
        bool all = space_.size() <= most_candidates;
        if (all && !model_.candidates().empty()) return;
        std::vector<size_t> rows;
        if (all) {
            rows.resize(space_.size());
            std::iota(rows.begin(), rows.end(), size_t{0});
        } else {
            rows = space_.neighbours(best);
            do {
                while (rows.size() < most_candidates) rows.push_back(random_() % space_.size());
                std::sort(rows.begin(), rows.end());
                rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
            } while (rows.size() < most_candidates);
        }
        failures_.set_candidates(rows);
        model_.set_candidates(std::move(rows));
    }

    std::optional<size_t> candidate_of(size_t row) const {
        const std::vector<size_t>& rows = model_.candidates();
        auto found = std::lower_bound(rows.begin(), rows.end(), row);
        if (found == rows.end() || *found != row) return std::nullopt;
        return static_cast<size_t>(found - rows.begin());
    }

    struct Observed {
        size_t row;
        std::optional<size_t> candidate;
        double expected;    // before
        bool is_predicted;  // by the model
    };

    // What is still being measured counts as the model expects it. So does a failure as far as it was not to be
    // foreseen; as far as it was, it counts as the median at least, or else a region that fails and would be fast stays
    // promising.
    double target(const Observed& observed, double median, double highest) {
        if (worked(observed.row)) return std::min(std::log(told_.at(observed.row)), highest);
        if (!told_.count(observed.row) || !observed.candidate) return observed.expected;
        double success = failures_.success_of_candidates()[*observed.candidate];
        return success * observed.expected + (1 - success) * std::max(observed.expected, median);
    }

    Observed expectation(size_t row, double median) {
        std::optional<size_t> candidate = candidate_of(row);
        if (worked(row) || !candidate || model_.observations() == 0) return {row, candidate, median, false};
        model_.predict();
        return {row, candidate, model_.mean(*candidate), true};
    }

    // The model forgets failures when it learns: from then on the model of failures tells of them alone.
    void update_model(size_t best) {
        std::vector<double> costs;
        for (const auto& [row, cost] : told_)
            if (cost < infinity) costs.push_back(std::log(cost));
        double median = stats::median(costs), highest = prior_.runs() > 0 ? infinity : highest_target(costs);
        bool learn = told_.size() >= learn_at_;
        if (learn || model_.candidates().empty()) {
            model_.clear();
            observed_.clear();
            choose_candidates(best);
        }
        std::set<size_t> unseen(proposed_.begin(), proposed_.end());
        for (size_t i = 0; i < observed_.size(); ++i) {
            if (told_.count(observed_[i].row)) model_.revise(i, target(observed_[i], median, highest));
            unseen.erase(observed_[i].row);
        }
        for (size_t row : unseen) {
            bool failed = told_.count(row) && !worked(row);
            if (failed && learn) continue;
            observed_.push_back(expectation(row, median));
            const Observed& observed = observed_.back();
            if (observed.is_predicted && !told_.count(row)) model_.expect(*observed.candidate);
            else model_.observe(row, target(observed, median, highest));
        }
        if (learn) {
            model_.learn();
            failures_.learn();
            learn_at_ = std::max(told_.size() + 4, told_.size() * 4 / 3);
        }
        model_.predict();
    }

    // An earlier run may be wrong about what lies far from its best, and no measurement near that shows it: the longer
    // nothing is gained, the less the model is believed.
    double widening() const { return model_.asks_earlier_runs() ? 1 + since_gain_ / doubling : 1; }

    std::optional<size_t> by_model(size_t best) {
        update_model(best);
        std::vector<bool> excluded(model_.candidates().size());
        for (size_t row : proposed_)
            if (std::optional<size_t> candidate = candidate_of(row)) excluded[*candidate] = true;
        std::optional<size_t> choice =
            model_.most_promising(std::log(told_.at(best)), widening(), excluded, failures_.success_of_candidates());
        return choice ? model_.candidates()[*choice] : random_row();
    }

    const Space& space_;
    std::optional<Configuration> initial_;  // until it was proposed
    std::mt19937_64 random_;
    Prior prior_;
    CostModel model_;
    FailureModel failures_;
    std::vector<size_t> starts_;           // what earlier runs found best, the best last
    std::unordered_set<size_t> proposed_;  // also what was told without being proposed
    std::map<size_t, double> told_;
    std::optional<size_t> best_;               // of those told
    std::map<Configuration, double> outside_;  // told, but not of the space
    std::vector<Observed> observed_;           // the model's observations
    size_t learn_at_ = 0;
    int since_gain_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> make_searcher(const Space& space, const SearchStart& start) {
    return std::make_unique<ModelThenDescent>(space, start);
}

}  // namespace strop::tune
