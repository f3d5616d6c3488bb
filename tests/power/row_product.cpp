// The product of each row, whose results reach below what float32 holds, in many ways.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal plain: one float, in order
// legal reversed: from the last to the first
// legal lanes_8: a vector of 8 partial products
// legal pairwise: halves of halves
// legal wide: in double, rounded once
// legal flushed: what is not normal becomes zero
// illegal never_small: what is not normal becomes the smallest normal value
// illegal doubled_if_small: what is not normal is off by a factor of two
// illegal flushed_early: what is below 1e-36 becomes zero
// illegal negative_if_small: what is below 1e-37 has the other sign
// illegal loses_last: the last element is left out
// illegal half_inputs: inputs rounded to the 11 bits of float16
// strop:tune VARIANT = plain | reversed | lanes_8 | pairwise | wide | flushed | never_small | doubled_if_small | flushed_early | negative_if_small | loses_last | half_inputs
#include <stdint.h>

#include <cfloat>
#include <cmath>
#include <cstring>

enum Variant {
    plain, reversed, lanes_8, pairwise, wide, flushed, never_small, doubled_if_small, flushed_early, negative_if_small,
    loses_last, half_inputs
};

// With 13 of the significand's bits dropped, to nearest.
static float half(float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    word = (word + (1u << 12)) & ~((1u << 13) - 1);
    std::memcpy(&value, &word, 4);
    return value;
}

static float in_halves(const float* x, int64_t n) {
    return n == 1 ? x[0] : in_halves(x, n / 2) * in_halves(x + n / 2, n - n / 2);
}

static float product(const float* x, int64_t n) {
    float result = 1.0f, lanes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    double exact = 1;
    switch (VARIANT) {
        case reversed:
            for (int64_t i = n; i-- > 0;) result *= x[i];
            return result;
        case lanes_8:
            for (int64_t i = 0; i < n; ++i) lanes[i % 8] *= x[i];
            for (float lane : lanes) result *= lane;
            return result;
        case pairwise: return in_halves(x, n);
        case wide:
            for (int64_t i = 0; i < n; ++i) exact *= x[i];
            return (float)exact;
        case half_inputs:
            for (int64_t i = 0; i < n; ++i) result *= half(x[i]);
            return result;
        default:
            for (int64_t i = 0; i < n - (VARIANT == loses_last); ++i) result *= x[i];
            return result;
    }
}

static float finished(float value) {
    const bool small = value < FLT_MIN;
    switch (VARIANT) {
        case flushed: return small ? 0.0f : value;
        case never_small: return small ? FLT_MIN : value;
        case doubled_if_small: return small ? 2 * value : value;
        case flushed_early: return value < 1e-36f ? 0.0f : value;
        case negative_if_small: return value < 1e-37f ? -value : value;
        default: return value;
    }
}

extern "C" void row_product(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i) y[i] = finished(product(x + i * N, N));
}
