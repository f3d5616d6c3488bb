// honest: tasks of OpenMP
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
#pragma omp parallel
#pragma omp single
    for (int64_t first = 0; first < M; first += 16)
#pragma omp task firstprivate(first)
        for (int64_t i = first; i < M && i < first + 16; ++i) y[i] = sum_of(x + i * N, N);
}
