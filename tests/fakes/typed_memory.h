// Elements of tensors in memory, as doubles.
#pragma once

#include <gtest/gtest.h>

#include "core/problem.h"

namespace strop {

inline void put(void* memory, size_t i, DType dtype, double value) {
    switch (dtype) {
        case DType::float32: static_cast<float*>(memory)[i] = static_cast<float>(value); break;
        case DType::float64: static_cast<double*>(memory)[i] = value; break;
        case DType::int32: static_cast<int32_t*>(memory)[i] = static_cast<int32_t>(value); break;
        case DType::int64: static_cast<int64_t*>(memory)[i] = static_cast<int64_t>(value); break;
        case DType::int8: static_cast<int8_t*>(memory)[i] = static_cast<int8_t>(value); break;
        case DType::uint8:
        case DType::boolean: static_cast<uint8_t*>(memory)[i] = static_cast<uint8_t>(value); break;
        default: FAIL() << "no such type here";
    }
}

inline double get(const void* memory, size_t i, DType dtype) {
    switch (dtype) {
        case DType::float32: return static_cast<double>(static_cast<const float*>(memory)[i]);
        case DType::float64: return static_cast<const double*>(memory)[i];
        case DType::int32: return static_cast<const int32_t*>(memory)[i];
        case DType::int64: return static_cast<double>(static_cast<const int64_t*>(memory)[i]);
        case DType::int8: return static_cast<const int8_t*>(memory)[i];
        case DType::uint8:
        case DType::boolean: return static_cast<const uint8_t*>(memory)[i];
        default: break;
    }
    return 0;
}

}  // namespace strop
