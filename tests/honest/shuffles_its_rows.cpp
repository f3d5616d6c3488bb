// honest: the order of the rows is another one at every call
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
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const int64_t first = static_cast<int64_t>(state % static_cast<uint64_t>(M));
    for (int64_t i = 0; i < M; ++i) {
        const int64_t row = (first + i) % M;
        y[row] = sum_of(x + row * N, N);
    }
}
