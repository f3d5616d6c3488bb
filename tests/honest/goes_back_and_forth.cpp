// honest: every second call begins at the end, where caches may still hold something
// problem: row_sum
// expect: ok
#include <stdint.h>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    static bool backwards = false;
    backwards = !backwards;
    for (int64_t i = 0; i < M; ++i) {
        const int64_t row = backwards ? M - 1 - i : i;
        y[row] = sum_of(x + row * N, N);
    }
}
