// What a floating type can hold: below it results vanish, above it they become infinite, whatever the formula says.
#pragma once

#include <limits>

#include "core/problem.h"

namespace strop::judge {

struct FloatRange {
    double least_subnormal = 0, least_normal = 0, largest = 0;

    // Not so small that the type's steps decide its precision, not so large that it becomes infinite.
    bool holds(double value) const {
        const double magnitude = value < 0 ? -value : value;
        return magnitude >= least_normal && magnitude <= largest;
    }
};

template <typename T>
constexpr FloatRange float_range() {
    using Limits = std::numeric_limits<T>;
    return {Limits::denorm_min(), Limits::min(), Limits::max()};
}

inline FloatRange float_range(DType dtype) {
    return dtype == DType::float64 ? float_range<double>() : float_range<float>();
}

}  // namespace strop::judge
