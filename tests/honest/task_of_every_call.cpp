// honest: half of the rows by std::async
// problem: row_sum
// expect: ok
#include <stdint.h>

#include <future>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    std::future<void> half = std::async(std::launch::async, [=] {
        for (int64_t i = 0; i < M / 2; ++i) y[i] = sum_of(x + i * N, N);
    });
    for (int64_t i = M / 2; i < M; ++i) y[i] = sum_of(x + i * N, N);
    half.wait();
}
