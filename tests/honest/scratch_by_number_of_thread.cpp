// honest: scratch for each thread of the team, by its number
// problem: softmax
// expect: ok
#include <omp.h>
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
    static std::vector<std::vector<float>> power(static_cast<size_t>(omp_get_max_threads()));
#pragma omp parallel for
    for (int64_t i = 0; i < M; ++i) {
        std::vector<float>& own = power[static_cast<size_t>(omp_get_thread_num())];
        own.resize(static_cast<size_t>(N));
        softmax_row(x + i * N, own.data(), y + i * N, N);
    }
}
