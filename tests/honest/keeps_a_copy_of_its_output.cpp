// honest: computes into memory of its own, which stays, and copies
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
    static std::vector<float> result;
    result.resize(static_cast<size_t>(M * N));
    for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, result.data() + i * N, result.data() + i * N, N);
    std::copy(result.begin(), result.end(), y);
}
