// honest: threads take rows from a counter
// problem: row_sum
// expect: ok
#include <stdint.h>

#include <atomic>
#include <thread>

static float sum_of(const float* x, int64_t N) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) sum += x[j];
    return static_cast<float>(sum);
}

extern "C" void row_sum(const float* x, float* y, int64_t M, int64_t N) {
    std::atomic<int64_t> next{0};
    const auto work = [&] {
        for (int64_t i; (i = next.fetch_add(8)) < M;)
            for (int64_t row = i; row < M && row < i + 8; ++row) y[row] = sum_of(x + row * N, N);
    };
    std::thread helper(work);
    work();
    helper.join();
}
