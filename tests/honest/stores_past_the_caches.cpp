// honest: writes past the caches
// problem: bias_gelu_residual
// expect: ok
#include <immintrin.h>
#include <stdint.h>

#include <cmath>
#include <cstring>

static float value(float x, float bias, float scale, float residual) {
    const float z = x + bias;
    return 0.5f * z * (1 + std::tanh(0.7978845608f * (z + 0.044715f * z * z * z))) * scale + residual;
}

extern "C" void bias_gelu_residual(const float* x, const float* bias, const float* scale, const float* residual,
                                   float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j) {
            const float result = value(x[i * N + j], bias[j], scale[j], residual[i * N + j]);
            int32_t bits;
            std::memcpy(&bits, &result, 4);
            _mm_stream_si32(reinterpret_cast<int*>(y + i * N + j), bits);
        }
    _mm_sfence();
}
