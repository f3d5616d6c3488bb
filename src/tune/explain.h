// Which tunables matter: a model of the costs (model.h), fitted to what was measured, taken apart by the
// analysis of variance (functional ANOVA: Hutter, Hoos, Leyton-Brown 2014) over the valid configurations.
#pragma once

#include <string>
#include <vector>

#include "tune/space.h"

namespace strop::tune {

// A tunable's own effect, or what two do together beyond their own: its share of the variance of log cost.
struct Impact {
    std::vector<std::string> tunables;
    double share = 0;
};

// What a value costs on average over all valid configurations, relative to the tunable's cheapest value.
struct ValueEffect {
    std::string tunable;
    Value value;
    double ratio = 1;
};

struct Explanation {
    size_t measured = 0;          // successes that the model was fitted to
    double error = 0;             // median of |predicted / measured - 1| on configurations that a fit left out
    std::vector<Impact> impacts;  // largest first
    std::vector<ValueEffect> values;
};

// Costs on any positive scale, infinity for a failure. Empty impacts with fewer than `least_measured`
// successes or where nothing differs.
inline constexpr size_t least_measured = 8;
Explanation explain(const Space& space, const std::vector<size_t>& rows, const std::vector<double>& costs);

}  // namespace strop::tune
