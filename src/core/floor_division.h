// Division of whole numbers as in Python: rounded down, with the remainder of the divisor's sign. b is not 0, and not
// -1 beside the least integer.
#pragma once

#include <cstdint>

namespace strop {

inline int64_t floor_div(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// Without the quotient, whose product with b may lie below the least integer.
inline int64_t floor_remainder(int64_t a, int64_t b) {
    const int64_t r = a % b;
    return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

}  // namespace strop
