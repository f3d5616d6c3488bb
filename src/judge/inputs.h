// Random inputs: what a tensor is filled with, from a seed, in parallel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/problem.h"

namespace strop::judge {

// How the values of a floating input set differ from what the problem declares.
enum class Distribution {
    declared,
    scaled_up,    // ×1e3
    scaled_down,  // ×1e-3
    shifted,      // +10: a mean of some spreads
    far,          // +300: a mean of hundreds of spreads; who subtracts squares of sums loses their digits
    sparse,       // nine of ten are zero
    very_sparse,  // 99 of 100 are zero
    repeated,     // few different values
    whole,      // whole numbers up to some hundreds: quotients and products of them are exact where others are rounded
    constant,   // one value, short in binary, so that sums of it are exact in any order
    subnormal,  // ×1e-39, of float16 ×1e-5
    huge,       // ×1e34, of float16 ×4e3: near the end of the type, with room for sums
    masked,     // one of 64 is minus infinity
};
std::string name_of(Distribution distribution);
// Whether many of the values are equal.
bool has_equal_values(Distribution distribution);
// Every distribution but `declared`.
const std::vector<Distribution>& unusual_distributions();

// Fills `count` elements as an input is declared; at these values of what its limit depends on. Integers and booleans
// ignore the distribution.
void fill_tensor(void* data, int64_t count, const Tensor& input, const Bindings& bindings, Distribution distribution,
                 uint64_t seed);

// The values of a tensor, each in double; it may lie at any address.
std::vector<double> as_doubles(const void* data, DType dtype, int64_t count);

// Multiplies floating values by a factor; false, and nothing is done, where there are none.
bool scale_tensor(void* data, DType dtype, int64_t count, double factor);

}  // namespace strop::judge
