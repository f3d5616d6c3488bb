// The decision tree of the dispatching function: best-first growth over thresholds of dimensions and their
// products (CART, Breiman et al. 1984, with log regret as the impurity).
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "search/dispatch.h"

namespace strop::search {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double noise = 0.03;        // log regret that is none
constexpr double not_callable = 3.0;  // log regret where neither a winner nor the fallback may run
constexpr double least_gain = 0.02;   // total log regret that a split must save, plus the next a sample
constexpr double least_gain_a_sample = 0.001;
constexpr size_t least_support = 2;  // samples of a leaf, unless one of them is a shape that the user named

// The dimensions and the products of dimensions that tensors are made of ("M", "N", "M*N"), fewest factors
// first.
std::vector<Expression> features_of(const Problem& problem) {
    std::vector<Expression> features;
    std::set<std::string> seen;
    auto add = [&](const std::vector<std::string>& factors) {
        Expression product(1);
        for (const std::string& factor : factors) product = product * Expression::symbol(factor);
        if (!factors.empty() && seen.insert(product.text()).second) features.push_back(product);
    };
    for (const std::string& dimension : problem.dimensions) add({dimension});
    std::set<std::string> dimensions(problem.dimensions.begin(), problem.dimensions.end());
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors) {
            std::set<std::string> own;
            for (const Expression& extent : tensor.shape) own.merge(extent.symbols());
            std::vector<std::string> factors;
            for (const std::string& dimension : problem.dimensions)
                if (own.count(dimension)) factors.push_back(dimension);
            for (size_t i = 0; i < factors.size(); ++i)
                for (size_t j = i + 1; j < factors.size(); ++j) add({factors[i], factors[j]});
            add(factors);
        }
    add(problem.dimensions);
    return features;
}

// A whole number in [low, high) near their geometric middle, with as few digits as possible: a power of two,
// else a number with one, two, ... significant digits.
int64_t readable_between(int64_t low, int64_t high) {
    double middle = std::sqrt(std::max<double>(static_cast<double>(low), 0.5) * static_cast<double>(high));
    int64_t best = -1;
    for (int64_t power = 1; power > 0 && power < high; power *= 2) {
        if (power < low) continue;
        if (best < 0 || std::fabs(std::log(static_cast<double>(power) / middle)) <
                            std::fabs(std::log(static_cast<double>(best) / middle)))
            best = power;
    }
    if (best >= 0) return best;
    double digits = std::floor(std::log10(std::max(middle, 1.0)));
    for (double unit = std::pow(10, digits); unit >= 1; unit /= 10) {
        int64_t rounded = static_cast<int64_t>(std::llround(middle / unit) * static_cast<int64_t>(unit));
        if (rounded >= low && rounded < high) return rounded;
    }
    return low;
}

class Fit {
public:
    Fit(const Problem& problem, const std::vector<DispatchWinner>& winners, const std::vector<DispatchSample>& samples)
        : features_(features_of(problem)),
          samples_(samples) {
        tree_.fallback = choose_fallback(winners);
        for (const DispatchSample& sample : samples_) {
            Bindings bindings = bindings_of(problem, sample.dims);
            values_.emplace_back();
            for (const Expression& feature : features_) values_.back().push_back(feature.evaluate_integer(bindings));
            regrets_.push_back(regrets_at(sample, winners.size()));
            doubts_.push_back(doubts_at(sample, winners.size()));
        }
        winners_ = winners.size();
    }

    DispatchTree grow(size_t max_leaves) {
        std::vector<size_t> all;
        for (size_t i = 0; i < samples_.size(); ++i) all.push_back(i);
        std::vector<Leaf> leaves = {make_leaf(0, std::move(all))};
        tree_.nodes.assign(1, DispatchNode{leaves[0].winner, {}, 0, -1, -1});
        while (leaves.size() < max_leaves) {
            auto most = std::max_element(leaves.begin(), leaves.end(),
                                         [](const Leaf& a, const Leaf& b) { return a.split.gain < b.split.gain; });
            if (!(most->split.gain > threshold_of_gain())) break;
            Leaf leaf = std::move(*most);
            leaves.erase(most);
            auto [yes, no] = split(leaf);
            leaves.push_back(std::move(yes));
            leaves.push_back(std::move(no));
        }
        return tree_;
    }

private:
    struct Split {
        double gain = 0;
        size_t feature = 0;
        int64_t threshold = 0;
    };
    struct Leaf {
        size_t node = 0;
        std::vector<size_t> samples;
        int winner = 0;
        double regret = 0;
        Split split;
    };

    double threshold_of_gain() const { return least_gain + least_gain_a_sample * static_cast<double>(samples_.size()); }

    // The kernel without a condition that loses least.
    int choose_fallback(const std::vector<DispatchWinner>& winners) const {
        int best = -1;
        double least = infinity;
        for (size_t w = 0; w < winners.size(); ++w) {
            if (winners[w].kernel.condition) continue;
            double sum = 0;
            for (const DispatchSample& sample : samples_) {
                double fastest = *std::min_element(sample.nanoseconds.begin(), sample.nanoseconds.end());
                double own = sample.nanoseconds[w];
                if (fastest < infinity)
                    sum += sample.weight * (own < infinity ? std::log(own / fastest) : not_callable);
            }
            if (best >= 0 && sum >= least) continue;
            least = sum;
            best = static_cast<int>(w);
        }
        return std::max(best, 0);
    }

    // Where a winner may not be called the fallback runs in its stead.
    std::vector<double> regrets_at(const DispatchSample& sample, size_t count) const {
        double fastest = infinity;
        for (double nanoseconds : sample.nanoseconds) fastest = std::min(fastest, nanoseconds);
        std::vector<double> regrets(count, 0);
        if (!(fastest < infinity)) return regrets;
        double fallback = sample.nanoseconds[static_cast<size_t>(tree_.fallback)];
        for (size_t w = 0; w < count; ++w) {
            double own = std::min(sample.nanoseconds[w] < infinity ? sample.nanoseconds[w] : fallback, infinity);
            regrets[w] =
                sample.weight * (own < infinity ? std::max(std::log(own / fastest) - noise, 0.0) : not_callable);
        }
        return regrets;
    }

    static std::vector<double> doubts_at(const DispatchSample& sample, size_t count) {
        std::vector<double> doubts(count, 0);
        for (size_t w = 0; w < std::min(count, sample.doubt.size()); ++w) doubts[w] = sample.weight * sample.doubt[w];
        return doubts;
    }

    // How far the gain of giving these samples to `after` may be off: 95% interval of a sum of independent ones.
    double doubt_of_change(const std::vector<size_t>& order, size_t from, size_t to, size_t before,
                           size_t after) const {
        double sum = 0;
        if (before != after)
            for (size_t i = from; i < to; ++i)
                sum += std::pow(doubts_[order[i]][before], 2) + std::pow(doubts_[order[i]][after], 2);
        return sum;
    }

    bool supported(const std::vector<size_t>& order, size_t from, size_t to) const {
        return to - from >= least_support ||
               std::any_of(order.begin() + static_cast<long>(from), order.begin() + static_cast<long>(to),
                           [&](size_t s) { return samples_[s].weight > 1; });
    }

    Leaf make_leaf(size_t node, std::vector<size_t> samples) const {
        Leaf leaf{node, std::move(samples), tree_.fallback, 0, {}};
        std::vector<double> sums(winners_, 0);
        for (size_t s : leaf.samples)
            for (size_t w = 0; w < winners_; ++w) sums[w] += regrets_[s][w];
        leaf.regret = sums[static_cast<size_t>(tree_.fallback)];
        for (size_t w = 0; w < winners_; ++w)
            if (sums[w] < leaf.regret - 1e-12) {
                leaf.regret = sums[w];
                leaf.winner = static_cast<int>(w);
            }
        leaf.split = best_split(leaf);
        return leaf;
    }

    Split best_split(const Leaf& leaf) const {
        Split best;
        for (size_t f = 0; f < features_.size(); ++f) {
            std::vector<size_t> order = leaf.samples;
            std::stable_sort(order.begin(), order.end(),
                             [&](size_t a, size_t b) { return values_[a][f] < values_[b][f]; });
            std::vector<double> below(winners_, 0), above(winners_, 0);
            for (size_t s : order)
                for (size_t w = 0; w < winners_; ++w) above[w] += regrets_[s][w];
            for (size_t i = 0; i + 1 < order.size(); ++i) {
                for (size_t w = 0; w < winners_; ++w) {
                    below[w] += regrets_[order[i]][w];
                    above[w] -= regrets_[order[i]][w];
                }
                int64_t low = values_[order[i]][f], high = values_[order[i + 1]][f];
                if (low == high) continue;
                const auto yes = std::min_element(below.begin(), below.end()),
                           no = std::min_element(above.begin(), above.end());
                const double gain = leaf.regret - *yes - *no;
                // Simpler features come first.
                if (gain <= best.gain + 1e-9 || !supported(order, 0, i + 1) || !supported(order, i + 1, order.size()))
                    continue;
                const size_t winner = static_cast<size_t>(leaf.winner);
                const double doubt = std::sqrt(
                    doubt_of_change(order, 0, i + 1, winner, static_cast<size_t>(yes - below.begin())) +
                    doubt_of_change(order, i + 1, order.size(), winner, static_cast<size_t>(no - above.begin())));
                if (gain > doubt) best = {gain, f, readable_between(low, high)};
            }
        }
        return best;
    }

    std::pair<Leaf, Leaf> split(const Leaf& leaf) {
        std::vector<size_t> yes, no;
        for (size_t s : leaf.samples) (values_[s][leaf.split.feature] <= leaf.split.threshold ? yes : no).push_back(s);
        int first = static_cast<int>(tree_.nodes.size());
        tree_.nodes[leaf.node] = {-1, features_[leaf.split.feature], leaf.split.threshold, first, first + 1};
        Leaf below = make_leaf(static_cast<size_t>(first), std::move(yes));
        Leaf above = make_leaf(static_cast<size_t>(first) + 1, std::move(no));
        tree_.nodes.push_back(DispatchNode{below.winner, {}, 0, -1, -1});
        tree_.nodes.push_back(DispatchNode{above.winner, {}, 0, -1, -1});
        return {std::move(below), std::move(above)};
    }

    std::vector<Expression> features_;
    const std::vector<DispatchSample>& samples_;
    std::vector<std::vector<int64_t>> values_;  // sample × feature
    std::vector<std::vector<double>> regrets_;  // sample × winner
    std::vector<std::vector<double>> doubts_;   // sample × winner, weighted like the regrets
    size_t winners_ = 0;
    DispatchTree tree_;
};

// Branches whose leaves agree are one leaf; nodes are renumbered from the root.
int copy_merged(const DispatchTree& from, int node, DispatchTree& to) {
    const DispatchNode& old = from.nodes[static_cast<size_t>(node)];
    int at = static_cast<int>(to.nodes.size());
    to.nodes.push_back(old);
    if (old.winner >= 0) return at;
    int yes = copy_merged(from, old.yes, to);
    int no = copy_merged(from, old.no, to);
    int a = to.nodes[static_cast<size_t>(yes)].winner, b = to.nodes[static_cast<size_t>(no)].winner;
    if (a >= 0 && a == b) {
        to.nodes.resize(static_cast<size_t>(at));
        to.nodes.push_back(DispatchNode{a, {}, 0, -1, -1});
        return at;
    }
    to.nodes[static_cast<size_t>(at)].yes = yes;
    to.nodes[static_cast<size_t>(at)].no = no;
    return at;
}

}  // namespace

DispatchTree fit_dispatch(const Problem& problem, const std::vector<DispatchWinner>& winners,
                          const std::vector<DispatchSample>& samples, size_t max_leaves) {
    DispatchTree grown = Fit(problem, winners, samples).grow(std::max<size_t>(max_leaves, 1));
    DispatchTree tree;
    tree.fallback = grown.fallback;
    copy_merged(grown, 0, tree);
    return tree;
}

}  // namespace strop::search
