// Bias, GELU in its tanh form, scale and residual in many ways.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal plain: as the reference has it
// legal logistic: z / (1 + exp(-2u)), which is the same function
// legal polynomial_exp: the same with a polynomial of degree 7: about two units in the last place
// legal half_scale: half of the scale times the rest
// legal fused: explicit fused multiply-add
// legal wide: in double
// legal powers: u from z and its square
// illegal half_inputs: inputs rounded to the 11 bits of float16
// illegal bfloat_inputs: inputs rounded to the 8 bits of bfloat16
// illegal coarse_inputs: inputs rounded to 14 bits
// illegal coarse_gelu: GELU's value rounded to 16 bits, which a tolerance ten times as large would pass
// illegal half_gelu: GELU's value rounded to 11 bits
// illegal bfloat_gelu: GELU's value rounded to 8 bits
// illegal half_output: the result rounded to 11 bits
// illegal erf_form: the exact GELU, which is another function: up to 5e-4 apart
// illegal quick_form: z times the logistic function of 1.702 z
// illegal rational_tanh: tanh as u (27 + u²) / (27 + 9 u²)
// illegal schraudolph: an exponential from the bits, right to three percent (Schraudolph, 1999)
// illegal two_terms: a polynomial of degree 2 for the exponential: right to half a percent
// illegal normal_only: tanh as a quotient of exponentials, which overflow for large inputs
// illegal forgets_a_bias: one column goes without its bias
// illegal forgets_a_scale: one column goes without its scale
// illegal forgets_a_residual: one column goes without its residual
// illegal last_element: the last element is a copy of the one before it
// illegal last_row: the last row is a copy of the one before it
// illegal tail: the last partial vector of eight goes without its residual
// strop:tune VARIANT = plain | logistic | polynomial_exp | half_scale | fused | wide | powers | half_inputs | bfloat_inputs | coarse_inputs | coarse_gelu | half_gelu | bfloat_gelu | half_output | erf_form | quick_form | rational_tanh | schraudolph | two_terms | normal_only | forgets_a_bias | forgets_a_scale | forgets_a_residual | last_element | last_row | tail
// strop:flags CONTRACT = -ffp-contract=fast | -ffp-contract=off
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <cstring>

enum Variant {
    plain, logistic, polynomial_exp, half_scale, fused, wide, powers, half_inputs, bfloat_inputs,
    coarse_inputs, coarse_gelu, half_gelu, bfloat_gelu, half_output, erf_form, quick_form, rational_tanh,
    schraudolph, two_terms, normal_only, forgets_a_bias, forgets_a_scale, forgets_a_residual, last_element,
    last_row, tail
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

// exp(v) for v from -87 to 87: 2^k times a polynomial of `degree` in the rest, |rest| <= log(2) / 2.
static float polynomial(float v, int degree) {
    v = std::min(std::max(v, -87.0f), 87.0f);
    float k = std::nearbyint(v * 1.44269504f), rest = std::fma(k, -0.693359375f, v);
    rest = std::fma(k, 2.12194440e-4f, rest);
    float value = 1;
    for (int i = degree; i > 0; --i) value = std::fma(value, rest / static_cast<float>(i), 1.0f);
    return std::ldexp(value, static_cast<int>(k));
}

static float power(float v) {
    if (VARIANT == polynomial_exp) return polynomial(v, 7);
    if (VARIANT == two_terms) return polynomial(v, 2);
    if (VARIANT != schraudolph) return std::exp(v);
    int32_t bits = static_cast<int32_t>(12102203.0f * std::min(std::max(v, -87.0f), 87.0f)) + 1064866805;
    float result;
    std::memcpy(&result, &bits, 4);
    return result;
}

static float gelu(float z) {
    const float c = 0.797884561f, d = 0.044715f, u = c * (z + d * z * z * z);
    switch (VARIANT) {
        case logistic:
        case polynomial_exp:
        case two_terms:
        case schraudolph: return z / (1 + power(-2 * u));
        case fused: return 0.5f * z * (1 + std::tanh(c * std::fma(d * z * z, z, z)));
        case powers: return 0.5f * z * (1 + std::tanh(z * (c + c * d * (z * z))));
        case wide: {
            double v = z;
            return static_cast<float>(0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))));
        }
        case erf_form: return 0.5f * z * (1 + std::erf(z * 0.707106781f));
        case quick_form: return z / (1 + std::exp(-1.702f * z));
        case rational_tanh: {
            float ratio = u * (27 + u * u) / (27 + 9 * u * u);
            return 0.5f * z * (1 + std::max(-1.0f, std::min(1.0f, ratio)));
        }
        case normal_only: return 0.5f * z * (1 + (std::exp(2 * u) - 1) / (std::exp(2 * u) + 1));
        default: return 0.5f * z * (1 + std::tanh(u));
    }
}

static float element(float x, float bias, float scale, float residual) {
    float value = gelu(load(x) + load(bias));
    if (VARIANT == coarse_gelu) value = rounded(value, 8);
    if (VARIANT == half_gelu) value = rounded(value, 13);
    if (VARIANT == bfloat_gelu) value = rounded(value, 16);
    if (VARIANT == half_scale) return value * 2 * (0.5f * scale) + residual;
    if (VARIANT == fused) return std::fma(value, scale, residual);
    value = value * scale + load(residual);
    return VARIANT == half_output ? rounded(value, 13) : value;
}

extern "C" void bias_gelu_residual(const float* x, const float* bias, const float* scale, const float* residual,
                                   float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            bool chosen = j == N / 2, behind = j >= N / 8 * 8;
            bool forgotten = (VARIANT == forgets_a_residual && chosen) || (VARIANT == tail && behind);
            y[i * N + j] = element(x[i * N + j], VARIANT == forgets_a_bias && chosen ? 0 : bias[j],
                                   VARIANT == forgets_a_scale && chosen ? 1 : scale[j],
                                   forgotten ? 0 : residual[i * N + j]);
        }
    if (VARIANT == last_element && M * N > 1) y[M * N - 1] = y[M * N - 2];
    if (VARIANT == last_row && M > 1) std::copy_n(y + (M - 2) * N, N, y + (M - 1) * N);
}
