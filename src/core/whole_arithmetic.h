// Arithmetic of whole numbers as in Python, of those that fit 64 bits: UsageError "integer overflow in '+'", "division
// by zero".
#pragma once

#include <cstdint>

namespace strop {

int64_t whole_sum(int64_t a, int64_t b);
int64_t whole_difference(int64_t a, int64_t b);
int64_t whole_product(int64_t a, int64_t b);
int64_t whole_quotient(int64_t a, int64_t b);   // rounded down
int64_t whole_remainder(int64_t a, int64_t b);  // with the divisor's sign

}  // namespace strop
