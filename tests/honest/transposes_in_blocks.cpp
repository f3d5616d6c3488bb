// honest: a block of each operand at a time, in memory of the thread
// problem: matmul
// expect: ok
#include <stdint.h>

static float dot(const float* a, const float* b, int64_t N) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t k = 0; k < N; ++k) sum += a[k] * b[k];
    return sum;
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {
#pragma omp parallel for
    for (int64_t first = 0; first < N; first += 32) {
        static thread_local float block[32 * 4096];
        const int64_t width = N - first < 32 ? N - first : 32;
        for (int64_t k = 0; k < K; ++k)
            for (int64_t j = 0; j < width; ++j) block[j * K + k] = b[k * N + first + j];
        for (int64_t i = 0; i < M; ++i)
            for (int64_t j = 0; j < width; ++j) c[i * N + first + j] = dot(a + i * K, block + j * K, K);
    }
}
