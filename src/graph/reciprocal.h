// x / b as x * (1 / b): right where 1 / b is finite, which it is not for all b: 1 / 1e-40 overflows in float32, though
// 3e-41 / 1e-40 is 0.3.
#pragma once

#include <functional>

#include "graph/graph.h"

namespace strop {

// Whether a node's values are known to be so large that their reciprocals are finite; zero and NaN aside, of which the
// reciprocal says what the quotient says.
using NodeAt = std::function<const Node&(int)>;
bool has_finite_reciprocal(const NodeAt& at, int id);

// Divisors below `tiny`, and dividends with them, are multiplied by `scale`: an exact power of two, with which the
// reciprocal is finite.
struct SmallDivisors {
    double tiny, scale;
};
SmallDivisors small_divisors(DType dtype);

}  // namespace strop
