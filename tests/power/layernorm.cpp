// Layer normalization with means and variances in many ways.
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
// legal welford: mean and variance in one pass (Welford, 1962)
// legal merged: moments of 64 at a time, merged (Chan, Golub and LeVeque, 1979)
// legal reciprocal: multiplies by the reciprocal root, and of the length
// legal folded: x * a + b, all folded into a and b; not in rows of one, where nothing is left of x * a
// illegal half_inputs: inputs rounded to the 11 bits of float16
// illegal bfloat_inputs: inputs rounded to the 8 bits of bfloat16
// illegal coarse_inputs: inputs rounded to 14 bits, which a tolerance eight times as large would pass
// illegal half_sum: partial sums rounded to 11 bits
// illegal bfloat_sum: partial sums rounded to 8 bits
// illegal skips_one_percent: one element of a hundred is left out
// illegal loses_last: the last element is left out
// illegal doubles_tail: the last vector of eight overlaps the one before it
// illegal last_row: the last row is a copy of the one before it
// illegal unbiased: divides by one less
// illegal drops_epsilon: no epsilon
// illegal epsilon_outside: epsilon is added to the root
// illegal forgets_a_gamma: one column goes without its scale
// illegal half_output: the result rounded to 11 bits
// illegal one_pass: E[x²] - E[x]² in float: loses its digits where the mean is far
// illegal forgets_a_beta: one column goes without its shift
// strop:tune VARIANT = plain | reversed | strided | pairwise | blocks_16 | blocks_100 | split_in_4 | lanes_8 | lanes_16 | lanes_64 | kahan | fused | wide | welford | merged | reciprocal | folded | half_inputs | bfloat_inputs | coarse_inputs | half_sum | bfloat_sum | skips_one_percent | loses_last | doubles_tail | last_row | unbiased | drops_epsilon | epsilon_outside | forgets_a_gamma | half_output | one_pass | forgets_a_beta
// strop:flags CONTRACT = -ffp-contract=fast | -ffp-contract=off
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <cstring>

enum Variant {
    plain, reversed, strided, pairwise, blocks_16, blocks_100, split_in_4, lanes_8, lanes_16, lanes_64, kahan,
    fused, wide, welford, merged, reciprocal, folded, half_inputs, bfloat_inputs, coarse_inputs, half_sum,
    bfloat_sum, skips_one_percent, loses_last, doubles_tail, last_row, unbiased, drops_epsilon,
    epsilon_outside, forgets_a_gamma, half_output, one_pass, forgets_a_beta
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

struct Moments {
    float mean, variance;
};

static Moments moments(const float* x, int64_t N) {
    const float n = static_cast<float>(N);
    auto value = [x](int64_t j) { return load(x[j]); };
    if (VARIANT == welford) {
        float mean = 0, squares = 0;
        for (int64_t j = 0; j < N; ++j) {
            float difference = x[j] - mean;
            mean += difference / static_cast<float>(j + 1);
            squares += difference * (x[j] - mean);
        }
        return {mean, squares / n};
    }
    if (VARIANT == merged) {
        float mean = 0, squares = 0;
        for (int64_t begin = 0; begin < N; begin += 64) {
            const int64_t end = std::min(N, begin + 64);
            float part = 0, rest = 0;
            for (int64_t j = begin; j < end; ++j) part += x[j] / static_cast<float>(end - begin);
            for (int64_t j = begin; j < end; ++j) rest += (x[j] - part) * (x[j] - part);
            float apart = part - mean, share = static_cast<float>(end - begin) / static_cast<float>(end);
            squares += rest + apart * apart * share * static_cast<float>(begin);
            mean += apart * share;
        }
        return {mean, squares / n};
    }
    if (VARIANT == one_pass) {
        float mean = sum(N, value) / n;
        return {mean, std::max(0.0f, sum(N, [&](int64_t j) { return x[j] * x[j]; }) / n - mean * mean)};
    }
    float mean = VARIANT == reciprocal ? sum(N, value) * (1 / n) : sum(N, value) / n, squares = 0;
    if (VARIANT == fused)
        for (int64_t j = 0; j < N; ++j) squares = std::fma(x[j] - mean, x[j] - mean, squares);
    else
        squares = sum(N, [&](int64_t j) { return (value(j) - mean) * (value(j) - mean); });
    return {mean, VARIANT == unbiased && N > 1 ? squares / (n - 1) : squares / n};
}

extern "C" void layernorm(const float* x, const float* gamma, const float* beta, float* y, float eps, int64_t M,
                          int64_t N) {
    for (int64_t i = 0; i < M; ++i) {
        const Moments row = moments(x + i * N, N);
        float root = std::sqrt(row.variance + (VARIANT == drops_epsilon || VARIANT == epsilon_outside ? 0 : eps));
        if (VARIANT == epsilon_outside) root += eps;
        for (int64_t j = 0; j < N; ++j) {
            float scale = VARIANT == forgets_a_gamma && j == N / 2 ? 1 : gamma[j];
            float shift = VARIANT == forgets_a_beta && j == N / 2 ? 0 : beta[j], slope = scale / root;
            float centred = load(x[i * N + j]) - row.mean;
            float& result = y[i * N + j];
            if (VARIANT == reciprocal) result = centred * (1 / root) * scale + shift;
            else if (VARIANT == folded && N > 1) result = x[i * N + j] * slope + (shift - row.mean * slope);
            else result = centred / root * scale + shift;
            if (VARIANT == half_output) result = rounded(result, 13);
        }
    }
    if (VARIANT == last_row && M > 1) std::copy_n(y + (M - 2) * N, N, y + (M - 1) * N);
}
