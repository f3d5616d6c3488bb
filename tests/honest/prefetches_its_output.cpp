// honest: fetches the lines that it will write
// problem: softmax
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cmath>

static void softmax_row(const float* x, float* power, float* y, int64_t N) {
    const float top = *std::max_element(x, x + N);
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += power[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < N; ++j) y[j] = static_cast<float>(power[j] / sum);
}

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    for (int64_t i = 0; i < M; ++i) {
        for (int64_t j = 0; j < N; j += 16) __builtin_prefetch(y + i * N + j, 1);
        softmax_row(x + i * N, y + i * N, y + i * N, N);
    }
}
