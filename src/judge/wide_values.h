// Values in float64 as a reference's process gives them back.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace strop::judge {

// A tolerance above this would tell nothing.
inline constexpr double largest_tolerance = 1e-2;

inline double value_at(const char* values, size_t index) {
    double value;
    std::memcpy(&value, values + 8 * index, sizeof value);
    return value;
}

inline bool all_finite(const double* values, int64_t count) {
    double sum = 0;  // a NaN or infinity times zero stays a NaN
    for (int64_t i = 0; i < count; ++i) sum += values[i] * 0;
    return sum == 0;
}

}  // namespace strop::judge
