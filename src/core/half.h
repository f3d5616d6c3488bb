// The 16-bit floating types as bits: float16 (IEEE 754 binary16) and bfloat16 (the upper half of a float).
#pragma once

#include <cstdint>

#include "core/problem.h"

namespace strop {

float widened(uint16_t bits, DType dtype);
// To nearest, halves to even; NaN stays NaN, what is too large becomes infinite.
uint16_t narrowed(float value, DType dtype);

// An element as it lies in memory, where the compiler should see which type it is.
template <DType dtype>
struct Half {
    uint16_t bits;
    Half() = default;
    explicit Half(float value) : bits(narrowed(value, dtype)) {}
    explicit Half(double value) : Half(static_cast<float>(value)) {}
    explicit operator double() const { return static_cast<double>(widened(bits, dtype)); }
};
using Float16 = Half<DType::float16>;
using BFloat16 = Half<DType::bfloat16>;

}  // namespace strop
