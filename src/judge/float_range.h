// What a floating type can hold: below it results vanish, above it they become infinite, whatever the formula says.
#pragma once

#include <limits>

#include "core/half.h"
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

template <>
constexpr FloatRange float_range<Float16>() {
    return {0x1p-24, 0x1p-14, 65504};
}

template <>
constexpr FloatRange float_range<BFloat16>() {
    return {0x1p-133, 0x1p-126, 0x1.fep127};
}

inline FloatRange float_range(DType dtype) {
    switch (dtype) {
        case DType::float64: return float_range<double>();
        case DType::float16: return float_range<Float16>();
        case DType::bfloat16: return float_range<BFloat16>();
        default: return float_range<float>();
    }
}

// The distance of 1 to the next value.
inline double epsilon_of(DType dtype) {
    switch (dtype) {
        case DType::float64: return 0x1p-52;
        case DType::float16: return 0x1p-10;
        case DType::bfloat16: return 0x1p-7;
        default: return 0x1p-23;
    }
}

}  // namespace strop::judge
