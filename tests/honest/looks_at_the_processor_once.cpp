// honest: asks once what the processor can do
// problem: bias_gelu_residual
// expect: ok
#include <stdint.h>

#include <cmath>

static float value(float x, float bias, float scale, float residual) {
    const float z = x + bias;
    return 0.5f * z * (1 + std::tanh(0.7978845608f * (z + 0.044715f * z * z * z))) * scale + residual;
}

extern "C" void bias_gelu_residual(const float* x, const float* bias, const float* scale, const float* residual,
                                   float* y, int64_t M, int64_t N) {
    static const bool wide = __builtin_cpu_supports("avx2") != 0;
    const int64_t step = wide ? 16 : 8;
    for (int64_t k = 0; k < M * N; k += step)
        for (int64_t e = k; e < M * N && e < k + step; ++e) y[e] = value(x[e], bias[e % N], scale[e % N], residual[e]);
}
