// What the models make of a run's costs.
#pragma once

#include <cstddef>
#include <vector>

namespace strop::tune {

// Costs far above the median say that a region is bad, and how bad does not matter: log costs are cut there.
double highest_target(const std::vector<double>& log_costs);

// At most `most` of them by index: the lowest half and of the rest every so many, for where costs are low a model
// has to be right.
std::vector<size_t> informative(const std::vector<double>& log_costs, size_t most);

}  // namespace strop::tune
