// honest: remembers the block that suits the shape of the last call
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
    static int64_t of_M, of_N, block = 1;
    if (of_M != M || of_N != N) {
        of_M = M;
        of_N = N;
        block = N > 4096 ? 1024 : N > 256 ? 256 : N;
    }
    for (int64_t first = 0; first < N; first += block)
        for (int64_t i = 0; i < M; ++i)
            for (int64_t j = first; j < N && j < first + block; ++j)
                y[i * N + j] = value(x[i * N + j], bias[j], scale[j], residual[i * N + j]);
}
