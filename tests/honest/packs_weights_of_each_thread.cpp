// honest: each thread packs the weights that it multiplies by
// problem: linear_relu
// expect: ok
#include <stdint.h>

#include <cstring>
#include <vector>

static float dot(const float* a, const float* b, int64_t N) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < N; ++k) sum += a[k] * b[k];
    return sum;
}

extern "C" void linear_relu(const float* x, const float* w, const float* b, float* y, int64_t M, int64_t I, int64_t O) {
#pragma omp parallel for
    for (int64_t first = 0; first < O; first += 16) {
        static thread_local std::vector<float> packed;
        const int64_t width = O - first < 16 ? O - first : 16;
        packed.resize(static_cast<size_t>(width * I));
        std::memcpy(packed.data(), w + first * I, packed.size() * sizeof(float));
        for (int64_t m = 0; m < M; ++m)
            for (int64_t o = 0; o < width; ++o) {
                const float value = dot(x + m * I, &packed[static_cast<size_t>(o * I)], I) + b[first + o];
                y[m * O + first + o] = value > 0 ? value : 0;
            }
    }
}
