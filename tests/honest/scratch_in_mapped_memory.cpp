// honest: scratch in memory that the first call maps
// problem: softmax
// expect: ok
#include <stdint.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>

static void softmax_row(const float* x, float* power, float* y, int64_t N) {
    const float top = *std::max_element(x, x + N);
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += power[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < N; ++j) y[j] = static_cast<float>(power[j] / sum);
}

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    static float* power =
        static_cast<float*>(mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, power, y + i * N, N);
}
