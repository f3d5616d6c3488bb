// honest: eight scratches, which calls use in turn
// problem: softmax
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <vector>

static void softmax_row(const float* x, float* power, float* y, int64_t N) {
    const float top = *std::max_element(x, x + N);
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += power[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < N; ++j) y[j] = static_cast<float>(power[j] / sum);
}

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    static std::vector<float> ring[8];
    static unsigned turn = 0;
    std::vector<float>& power = ring[turn++ % 8];
    power.resize(static_cast<size_t>(N));
    for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, power.data(), y + i * N, N);
}
