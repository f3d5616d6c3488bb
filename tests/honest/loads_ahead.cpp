// honest: loads the next values before it stores the last
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
    for (int64_t i = 0; i < M; ++i) {
        float next = x[i * N], next_residual = residual[i * N];
        for (int64_t j = 0; j < N; ++j) {
            const float now = next, now_residual = next_residual;
            if (j + 1 < N) {
                next = x[i * N + j + 1];
                next_residual = residual[i * N + j + 1];
            }
            y[i * N + j] = value(now, bias[j], scale[j], now_residual);
        }
    }
}
