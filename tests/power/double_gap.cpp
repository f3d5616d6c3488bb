// 1 - tanh(x) in float64.
// Variants that the judge has to call right, and wrong ones that it has to find at every judgement:
// legal plain: as it is written
// legal stable: 2 / (exp(2 x) + 1), which loses nothing
// legal wide: in 80 bits
// legal by_exponentials: the tangent from exp(2 x)
// illegal in_float: in float32
// illegal coarse: a tangent that is off by a hundred units in the last place
// illegal half_inputs: inputs rounded to float32
// illegal never_small: nothing below 1e-3
// strop:tune VARIANT = plain | stable | wide | by_exponentials | in_float | coarse | half_inputs | never_small
#include <stdint.h>

#include <cmath>

enum Variant { plain, stable, wide, by_exponentials, in_float, coarse, half_inputs, never_small };

static double gap(double x) {
    const double power = std::exp(2 * x);
    switch (VARIANT) {
        case stable: return 2 / (power + 1);
        case wide: return (double)(1 - std::tanh((long double)x));
        case by_exponentials: return 1 - (std::isinf(power) ? 1 : (power - 1) / (power + 1));
        case in_float: return 1 - std::tanh((float)x);
        case coarse: return 1 - std::tanh(x) * (1 + 2.2e-14);
        case half_inputs: return 1 - std::tanh((double)(float)x);
        case never_small: return std::fmax(1e-3, 1 - std::tanh(x));
        default: return 1 - std::tanh(x);
    }
}

extern "C" void double_gap(const double* x, double* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M * N; ++i) y[i] = gap(x[i]);
}
