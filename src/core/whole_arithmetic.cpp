#include "core/whole_arithmetic.h"

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

namespace {

int64_t checked(bool overflow, int64_t result, const char* operation) {
    if (overflow) throw UsageError(fmt::format("integer overflow in '{}'", operation));
    return result;
}

void check_divisor(int64_t b) {
    if (b == 0) throw UsageError("division by zero");
}

}  // namespace

int64_t whole_sum(int64_t a, int64_t b) {
    int64_t result;
    const bool overflow = __builtin_add_overflow(a, b, &result);
    return checked(overflow, result, "+");
}

int64_t whole_difference(int64_t a, int64_t b) {
    int64_t result;
    const bool overflow = __builtin_sub_overflow(a, b, &result);
    return checked(overflow, result, "-");
}

int64_t whole_product(int64_t a, int64_t b) {
    int64_t result;
    const bool overflow = __builtin_mul_overflow(a, b, &result);
    return checked(overflow, result, "*");
}

int64_t whole_quotient(int64_t a, int64_t b) {
    check_divisor(b);
    if (b == -1) return whole_difference(0, a);
    const int64_t q = a / b;
    return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

// Without the quotient, whose product with b may lie below the least integer.
int64_t whole_remainder(int64_t a, int64_t b) {
    check_divisor(b);
    if (b == -1) return 0;
    const int64_t r = a % b;
    return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

}  // namespace strop
