// honest: scratch is allocated and freed at every call
// problem: softmax
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

static void softmax_row(const float* x, float* power, float* y, int64_t N) {
    const float top = *std::max_element(x, x + N);
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += power[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < N; ++j) y[j] = static_cast<float>(power[j] / sum);
}

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    float* power = static_cast<float*>(std::malloc(static_cast<size_t>(N) * 4));
    for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, power, y + i * N, N);
    std::free(power);
}
