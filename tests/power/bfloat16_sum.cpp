// The sum of each row of 16-bit elements.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal plain: one float, in order
// legal reversed: from the last to the first
// legal lanes_8: a vector of 8 partial sums
// legal wide: in double
// legal truncated: the result is cut off instead of rounded
// illegal narrow: the sum is rounded to bfloat16 after each element
// illegal narrow_blocks: sums of 16 elements in float, added up in bfloat16
// illegal loses_last: the last element is left out
// strop:tune VARIANT = plain | reversed | lanes_8 | wide | truncated | narrow | narrow_blocks | loses_last
// strop:flags CONTRACT = -ffp-contract=fast | -ffp-contract=off
#include <stdint.h>

#include <cstring>

enum Variant { plain, reversed, lanes_8, wide, truncated, narrow, narrow_blocks, loses_last };

static float widened(uint16_t bits) {
    const uint32_t word = (uint32_t)bits << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
}

static uint16_t rounded(float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    if (value != value) return (uint16_t)(word >> 16 | 0x40);
    if (VARIANT == truncated) return (uint16_t)(word >> 16);
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

static float sum(const uint16_t* x, int64_t n) {
    double in_double = 0;
    float total = 0, lanes[8] = {};
    switch (VARIANT) {
        case reversed:
            for (int64_t i = n; i-- > 0;) total += widened(x[i]);
            return total;
        case lanes_8:
            for (int64_t i = 0; i < n; ++i) lanes[i % 8] += widened(x[i]);
            for (float lane : lanes) total += lane;
            return total;
        case wide:
            for (int64_t i = 0; i < n; ++i) in_double += widened(x[i]);
            return (float)in_double;
        case narrow:
            for (int64_t i = 0; i < n; ++i) total = widened(rounded(total + widened(x[i])));
            return total;
        case narrow_blocks:
            for (int64_t i = 0; i < n; i += 16) {
                float block = 0;
                for (int64_t j = i; j < n && j < i + 16; ++j) block += widened(x[j]);
                total = widened(rounded(total + block));
            }
            return total;
        case loses_last: --n; [[fallthrough]];
        default:
            for (int64_t i = 0; i < n; ++i) total += widened(x[i]);
            return total;
    }
}

extern "C" void bfloat16_sum(const uint16_t* x, uint16_t* y, int64_t M, int64_t N) {
    for (int64_t m = 0; m < M; ++m) y[m] = rounded(sum(x + m * N, N));
}
