// honest: a second thread reads the second half while the first adds the first
// problem: row_sum
// expect: ok
#include <stdint.h>

#include <thread>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    const char* bytes = reinterpret_cast<const char*>(x + M / 2 * N);
    std::thread helper([=] {
        for (int64_t line = 0; line < (M - M / 2) * N * 4; line += 64) __builtin_prefetch(bytes + line);
    });
    for (int64_t i = 0; i < M / 2; ++i) y[i] = sum_of(x + i * N, N);
    helper.join();
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
}
