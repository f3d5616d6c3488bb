// honest: scratch from a pool that stays
// problem: softmax
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <memory_resource>
#include <vector>

static void softmax_row(const float* x, float* power, float* y, int64_t N) {
    const float top = *std::max_element(x, x + N);
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += power[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < N; ++j) y[j] = static_cast<float>(power[j] / sum);
}

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    static std::pmr::unsynchronized_pool_resource pool;
    for (int64_t i = 0; i < M; ++i) {
        std::pmr::vector<float> power(static_cast<size_t>(N), &pool);
        softmax_row(x + i * N, power.data(), y + i * N, N);
    }
}
