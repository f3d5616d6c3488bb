// Which elements are multiples of seven, by their quotients.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal divides: as it is written
// legal in_double: rounded to a float before it is compared
// illegal reciprocal: the quotient is a product with 1 / 7, which is rounded
// illegal reciprocal_rounds: the same, compared with the nearest whole number
// illegal never: none is
// illegal always_whole: all are
// strop:tune VARIANT = divides | in_double | reciprocal | reciprocal_rounds | never | always_whole
#include <stdint.h>

#include <cmath>

enum Variant { divides, in_double, reciprocal, reciprocal_rounds, never, always_whole };

static bool is_multiple(float x) {
    const float seventh = 1 / 7.0f;
    switch (VARIANT) {
        case in_double: return (float)((double)x / 7) == std::floor((float)((double)x / 7));
        case reciprocal: return x * seventh == std::floor(x * seventh);
        case reciprocal_rounds: return x * seventh == std::nearbyint(x * seventh);
        case never: return false;
        case always_whole: return true;
        default: return x / 7 == std::floor(x / 7);
    }
}

extern "C" void multiples(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M * N; ++i) y[i] = is_multiple(x[i]) ? 1.0f : 0.0f;
}
