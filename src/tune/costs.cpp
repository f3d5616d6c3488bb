#include "tune/costs.h"

#include <algorithm>
#include <numeric>

#include "stats/sample.h"

namespace strop::tune {

double highest_target(const std::vector<double>& log_costs) {
    double median = stats::median(log_costs), best = *std::min_element(log_costs.begin(), log_costs.end());
    return median + 0.3 * (median - best);
}

std::vector<size_t> informative(const std::vector<double>& log_costs, size_t most) {
    std::vector<size_t> order(log_costs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (order.size() <= most) return order;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return log_costs[a] < log_costs[b]; });
    size_t half = most / 2, rest = order.size() - half, wanted = most - half;
    for (size_t i = 0; i < wanted; ++i) order[half + i] = order[half + i * rest / wanted];
    order.resize(most);
    return order;
}

}  // namespace strop::tune
