// honest: tells the system that it will read all of its input
// problem: row_sum
// expect: ok
#include <stdint.h>
#include <sys/mman.h>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    const uintptr_t first = reinterpret_cast<uintptr_t>(x) & ~uintptr_t{4095};
    madvise(reinterpret_cast<void*>(first), static_cast<size_t>(M * N) * 4, MADV_WILLNEED);
    for (int64_t i = 0; i < M; ++i) y[i] = sum_of(x + i * N, N);
}
