#include "tune/measured_space.h"

#include <cmath>
#include <limits>

namespace strop::tune {

double cost_of(const MeasuredSpace& space, const Measured& entry) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (entry.failure != Measured::Failure::none || !std::isfinite(entry.value)) return infinity;
    if (!space.higher_is_better) return entry.value;
    // A rate becomes a time, so that costs stay positive and their ratios keep their meaning.
    return entry.value > 0 ? 1 / entry.value : infinity;
}

}  // namespace strop::tune
