#include "tune/searcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "stats/sample.h"
#include "tune/model.h"

namespace strop::tune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t random_starts = 6;
constexpr size_t model_observations = 150;  // beyond, the model costs more than it gains
constexpr size_t model_candidates = 600;
constexpr int model_patience = 50;  // measurements without a gain after which descent takes over
constexpr int restarts_to_converge = 2;
constexpr double gain = 0.995;  // less than half a percent is noise

// The initial configuration, a few random ones, then a Gaussian process with expected improvement, which
// needs the fewest measurements; when it stalls, the neighbourhood of the best is exhausted and perturbed
// copies of the best are descended (iterated local search), which finds the last few percent that a surrogate
// misses.
class ModelThenDescent : public Searcher {
public:
    ModelThenDescent(const TunableSpace& space, const Configuration& initial, uint64_t seed)
        : space_(space), model_(space_), initial_(initial), random_(seed) {}

    std::vector<Configuration> propose(size_t count) override {
        std::vector<Configuration> result;
        while (result.size() < count) {
            if (!asked_initial_) {
                asked_initial_ = true;
                std::optional<size_t> row = space_.find(initial_);
                bool fresh = row ? proposed_.insert(*row).second : !outside_.count(initial_);
                if (fresh) result.push_back(initial_);
                continue;
            }
            std::optional<size_t> row = next();
            if (!row) break;
            proposed_.insert(*row);
            result.push_back(space_.configuration(*row));
        }
        return result;
    }

    void tell(const Configuration& configuration, double cost) override {
        double before = best_cost();
        std::optional<size_t> row = space_.find(configuration);
        bool fresh = row ? !told_.count(*row) : !outside_.count(configuration);
        if (row) {
            proposed_.insert(*row);
            told_[*row] = cost;
        } else {
            outside_[configuration] = cost;
        }
        if (cost < before * gain)
            since_gain_ = 0;
        else if (fresh)
            ++since_gain_;
        if (row && current_ && cost < cost_of(*current_)) current_ = row;
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
        return row && restarts_ > restarts_to_converge && since_gain_ >= model_patience &&
               !fresh_neighbour(*row, false);
    }

private:
    double cost_of(size_t row) const {
        auto found = told_.find(row);
        return found == told_.end() ? infinity : found->second;
    }

    std::optional<size_t> best_row() const {
        std::optional<size_t> best;
        for (const auto& [row, cost] : told_)
            if (cost < infinity && (!best || cost < told_.at(*best))) best = row;
        return best;
    }

    double best_cost() const {
        std::optional<size_t> row = best_row();
        double cost = row ? told_.at(*row) : infinity;
        for (const auto& [configuration, other] : outside_) cost = std::min(cost, other);
        return cost;
    }

    std::optional<size_t> next() {
        if (proposed_.size() >= space_.size()) return std::nullopt;
        std::optional<size_t> best = best_row();
        if (proposed_.size() <= random_starts || !best) return random_row();
        if (told_.size() <= model_observations && since_gain_ < model_patience) return by_model(*best);
        if (std::optional<size_t> row = fresh_neighbour(*best, true)) return row;
        if (std::optional<size_t> row = fresh_neighbour(*best, false)) return row;
        return by_restart(*best);
    }

    std::optional<size_t> random_row() {
        for (int attempt = 0; attempt < 32; ++attempt) {
            size_t row = random_() % space_.size();
            if (!proposed_.count(row)) return row;
        }
        size_t start = random_() % space_.size();
        for (size_t i = 0; i < space_.size(); ++i) {
            size_t row = (start + i) % space_.size();
            if (!proposed_.count(row)) return row;
        }
        return std::nullopt;
    }

    std::optional<size_t> fresh_neighbour(size_t row, bool adjacent) const {
        for (size_t neighbour : space_.neighbours(row, adjacent))
            if (!proposed_.count(neighbour)) return neighbour;
        return std::nullopt;
    }

    // Everything unseen in a small space; in a large one the neighbours of the best and a random share.
    std::set<size_t> candidates(size_t best) {
        std::set<size_t> rows;
        if (space_.size() <= model_candidates) {
            for (size_t row = 0; row < space_.size(); ++row) rows.insert(row);
        } else {
            for (size_t row : space_.neighbours(best)) rows.insert(row);
            while (rows.size() < model_candidates) rows.insert(random_() % space_.size());
        }
        for (size_t row : proposed_) rows.erase(row);
        return rows;
    }

    std::optional<size_t> by_model(size_t best) {
        std::vector<size_t> rows;
        std::vector<double> costs;
        for (const auto& [row, cost] : told_)
            if (cost < infinity) costs.push_back(std::log(cost));
        double worst = *std::max_element(costs.begin(), costs.end()), middle = stats::median(costs);
        costs.clear();
        // A failure counts as the worst seen; what is still being measured as the median ("constant liar").
        for (size_t row : proposed_) {
            rows.push_back(row);
            auto told = told_.find(row);
            bool failed = told != told_.end() && !(told->second < infinity);
            costs.push_back(told == told_.end() ? middle : failed ? worst : std::log(told->second));
        }
        model_.fit(rows, costs);
        double best_log = std::log(told_.at(best)), highest = -1;
        std::optional<size_t> choice;
        for (size_t row : candidates(best)) {
            double improvement = model_.expected_improvement(row, best_log);
            if (improvement <= highest) continue;
            highest = improvement;
            choice = row;
        }
        return choice ? choice : random_row();
    }

    std::optional<size_t> by_restart(size_t best) {
        if (current_)
            if (std::optional<size_t> row = fresh_neighbour(*current_, true)) return row;
        ++restarts_;
        size_t row = best;
        size_t steps = 2 + random_() % 2;
        for (size_t i = 0; i < steps; ++i) {
            std::vector<size_t> around = space_.neighbours(row);
            if (!around.empty()) row = around[random_() % around.size()];
        }
        if (proposed_.count(row)) {
            std::optional<size_t> other = random_row();
            if (!other) return std::nullopt;
            row = *other;
        }
        current_ = row;
        return row;
    }

    Space space_;
    CostModel model_;
    Configuration initial_;
    std::mt19937_64 random_;
    bool asked_initial_ = false;
    std::set<size_t> proposed_;  // also what was told without being proposed
    std::map<size_t, double> told_;
    std::map<Configuration, double> outside_;  // told, but not among the rows kept
    std::optional<size_t> current_;            // where a restarted descent stands
    int since_gain_ = 0;
    int restarts_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> make_searcher(const TunableSpace& space, const Configuration& initial,
                                        uint64_t seed) {
    return std::make_unique<ModelThenDescent>(space, initial, seed);
}

}  // namespace strop::tune
