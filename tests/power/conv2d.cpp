// 2D convolution with sums over channels and filters in many orders.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal plain: one float, in order
// legal reversed: from the last to the first
// legal strided: every 16th element, then every 16th from the next on
// legal pairwise: halves of halves
// legal blocks_16: sums of 16, then of those
// legal blocks_100: sums of 100, then of those
// legal split_in_4: four threads' parts, then of those
// legal lanes_8: a vector of 8 partial sums
// legal lanes_16: a vector of 16 partial sums
// legal lanes_64: four vectors of 16 partial sums
// legal kahan: compensated
// legal fused: explicit fused multiply-add
// legal wide: in double
// legal skips_padding: only what lies inside of the image is added
// illegal half_inputs: inputs rounded to the 11 bits of float16
// illegal bfloat_inputs: inputs rounded to the 8 bits of bfloat16
// illegal coarse_inputs: inputs rounded to 14 bits, which a tolerance eight times as large would pass
// illegal half_sum: partial sums rounded to 11 bits
// illegal bfloat_sum: partial sums rounded to 8 bits
// illegal skips_one_percent: one element of a hundred is left out
// illegal loses_last: the last element is left out
// illegal doubles_tail: the last vector of eight overlaps the one before it
// illegal pads_less: the left padding is one less
// illegal pads_more: the upper padding is one more
// illegal repeats_the_border: padded with the nearest pixel instead of zero
// illegal last_column: the last column of each image copies the one before it
// illegal half_output: the result rounded to 11 bits
// strop:tune VARIANT = plain | reversed | strided | pairwise | blocks_16 | blocks_100 | split_in_4 | lanes_8 | lanes_16 | lanes_64 | kahan | fused | wide | skips_padding | half_inputs | bfloat_inputs | coarse_inputs | half_sum | bfloat_sum | skips_one_percent | loses_last | doubles_tail | pads_less | pads_more | repeats_the_border | last_column | half_output
// strop:flags CONTRACT = -ffp-contract=fast | -ffp-contract=off
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <cstring>

enum Variant {
    plain, reversed, strided, pairwise, blocks_16, blocks_100, split_in_4, lanes_8, lanes_16, lanes_64, kahan,
    fused, wide, skips_padding, half_inputs, bfloat_inputs, coarse_inputs, half_sum, bfloat_sum,
    skips_one_percent, loses_last, doubles_tail, pads_less, pads_more, repeats_the_border, last_column,
    half_output
};
// A float with so many bits of its significand dropped, to nearest: 13 for float16, 16 for bfloat16.
// Subnormals stay: they would lose more than their share.
static float rounded(float value, int bits) {
    uint32_t word;
    if (std::fpclassify(value) == FP_SUBNORMAL) return value;
    std::memcpy(&word, &value, 4);
    word = (word + (1u << (bits - 1))) & ~((1u << bits) - 1);
    std::memcpy(&value, &word, 4);
    return value;
}

static float load(float value) {
    switch (VARIANT) {
        case half_inputs: return rounded(value, 13);
        case bfloat_inputs: return rounded(value, 16);
        case coarse_inputs: return rounded(value, 10);
        default: return value;
    }
}

template <typename Term>
static float in_lanes(int64_t n, int64_t lanes, const Term& term) {
    float lane[64] = {};
    for (int64_t i = 0; i < n; ++i) lane[i % lanes] += term(i);
    for (int64_t width = lanes / 2; width > 0; width /= 2)
        for (int64_t l = 0; l < width; ++l) lane[l] += lane[l + width];
    return lane[0];
}

template <typename Term>
static float in_blocks(int64_t n, int64_t block, const Term& term) {
    float total = 0;
    for (int64_t begin = 0; begin < n; begin += block) {
        float part = 0;
        for (int64_t i = begin; i < std::min(n, begin + block); ++i) part += term(i);
        total += part;
    }
    return total;
}

template <typename Term>
static float by_halves(int64_t begin, int64_t end, const Term& term) {
    if (end - begin > 2) {
        int64_t middle = begin + (end - begin) / 2;
        return by_halves(begin, middle, term) + by_halves(middle, end, term);
    }
    float total = 0;
    for (int64_t i = begin; i < end; ++i) total += term(i);
    return total;
}

template <typename Term>
static float compensated(int64_t n, const Term& term) {
    float total = 0, lost = 0;
    for (int64_t i = 0; i < n; ++i) {
        float value = term(i) - lost, next = total + value;
        lost = (next - total) - value;
        total = next;
    }
    return total;
}

// term(0) + … + term(n - 1) as the variant has it.
template <typename Term>
static float sum(int64_t n, const Term& term) {
    float total = 0;
    double precise = 0;
    switch (VARIANT) {
        case reversed:
            for (int64_t i = n; i-- > 0;) total += term(i);
            return total;
        case strided:
            for (int64_t first = 0; first < 16; ++first)
                for (int64_t i = first; i < n; i += 16) total += term(i);
            return total;
        case pairwise: return by_halves(0, n, term);
        case blocks_16: return in_blocks(n, 16, term);
        case blocks_100: return in_blocks(n, 100, term);
        case split_in_4: return in_blocks(n, (n + 3) / 4, term);
        case lanes_8: return in_lanes(n, 8, term);
        case lanes_16: return in_lanes(n, 16, term);
        case lanes_64: return in_lanes(n, 64, term);
        case kahan: return compensated(n, term);
        case wide:
            for (int64_t i = 0; i < n; ++i) precise += term(i);
            return static_cast<float>(precise);
        case half_sum:
        case bfloat_sum:
            for (int64_t i = 0; i < n; ++i) total = rounded(total + term(i), VARIANT == half_sum ? 13 : 16);
            return total;
        case skips_one_percent:
            for (int64_t i = 0; i < n; ++i)
                if (i % 100 != 7) total += term(i);
            return total;
        case loses_last: --n; break;
        case doubles_tail:
            for (int64_t i = n - 8; n % 8 && i >= 0 && i < n / 8 * 8; ++i) total += term(i);
            break;
        default: break;
    }
    for (int64_t i = 0; i < n; ++i) total += term(i);
    return total;
}

struct Image {
    const float* x;
    int64_t H, W;
    float at(int64_t c, int64_t h, int64_t w) const {
        if (VARIANT == repeats_the_border) {
            h = std::clamp<int64_t>(h, 0, H - 1);
            w = std::clamp<int64_t>(w, 0, W - 1);
        }
        return h >= 0 && h < H && w >= 0 && w < W ? load(x[(c * H + h) * W + w]) : 0;
    }
};

extern "C" void conv2d(const float* x, const float* w, float* y, int64_t stride, int64_t padding, int64_t dilation,
                       int64_t groups, int64_t N, int64_t C, int64_t H, int64_t W, int64_t K, int64_t R, int64_t S) {
    const int64_t P = (H + 2 * padding - dilation * (R - 1) - 1) / stride + 1;
    const int64_t Q = (W + 2 * padding - dilation * (S - 1) - 1) / stride + 1, D = C / groups;
    const int64_t up = padding + (VARIANT == pads_more), left = padding - (VARIANT == pads_less);
    for (int64_t n = 0; n < N; ++n)
        for (int64_t k = 0; k < K; ++k)
            for (int64_t p = 0; p < P; ++p)
                for (int64_t q = 0; q < Q; ++q) {
                    const Image image{x + (n * C + k / (K / groups) * D) * H * W, H, W};
                    const float* filter = w + k * D * R * S;
                    auto pixel = [&](int64_t i) {
                        int64_t h = p * stride - up + i / S % R * dilation, v = q * stride - left + i % S * dilation;
                        return image.at(i / (R * S), h, v);
                    };
                    float total = 0;
                    if (VARIANT == fused)
                        for (int64_t i = 0; i < D * R * S; ++i) total = std::fma(pixel(i), filter[i], total);
                    else if (VARIANT == skips_padding)
                        for (int64_t i = 0; i < D * R * S; ++i) total += pixel(i) != 0 ? pixel(i) * filter[i] : 0;
                    else
                        total = sum(D * R * S, [&](int64_t i) { return pixel(i) * load(filter[i]); });
                    float* row = y + ((n * K + k) * P + p) * Q;
                    row[q] = VARIANT == half_output ? rounded(total, 13) : total;
                    if (VARIANT == last_column && q > 0 && q == Q - 1) row[q] = row[q - 1];
                }
}
