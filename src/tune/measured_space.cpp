#include "tune/measured_space.h"

#include <cmath>
#include <limits>

namespace strop::tune {

double cost_of(const MeasuredSpace& space, const Measured& entry) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (entry.failure != Measured::Failure::none || !std::isfinite(entry.value)) return infinity;
    if (entry.value <= 0) return infinity;  // nothing takes no time
    // A rate becomes a time, so that costs stay positive and their ratios keep their meaning.
    return space.higher_is_better ? 1 / entry.value : entry.value;
}

}  // namespace strop::tune
