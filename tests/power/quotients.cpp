// Quotients by -7, rounded down.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal by_the_rest: the exact remainder is taken off first
// legal in_double: the quotient is rounded down in double
// illegal reciprocal: a product with 1 / -7, which is rounded, is rounded down
// illegal one_off: at multiples of the divisor one less
// illegal nearest: to the nearest whole number
// strop:tune VARIANT = by_the_rest | in_double | reciprocal | one_off | nearest
#include <stdint.h>

#include <cmath>

enum Variant { by_the_rest, in_double, reciprocal, one_off, nearest };

static float quotient(float x) {
    const float rest = std::fmod(x, -7.0f), whole = std::nearbyint((x - (rest > 0 ? rest - 7 : rest)) / -7);
    switch (VARIANT) {
        case in_double: return (float)std::floor((double)x / -7);
        case reciprocal: return std::floor(x * (1 / -7.0f));
        case one_off: return rest == 0 && x != 0 ? whole - 1 : whole;
        case nearest: return std::nearbyint(x / -7);
        default: return whole;
    }
}

extern "C" void quotients(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M * N; ++i) y[i] = quotient(x[i]);
}
