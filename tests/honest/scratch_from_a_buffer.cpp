// honest: scratch from a buffer that every call hands out anew
// problem: softmax
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <vector>

static void softmax_row(const float* x, float* power, float* y, int64_t N) {
    const float top = *std::max_element(x, x + N);
    double sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += power[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < N; ++j) y[j] = static_cast<float>(power[j] / sum);
}

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    static std::vector<std::byte> room(1 << 18);
    std::pmr::monotonic_buffer_resource buffer(room.data(), room.size());
    for (int64_t i = 0; i < M; ++i) {
        std::pmr::vector<float> power(static_cast<size_t>(N), &buffer);
        softmax_row(x + i * N, power.data(), y + i * N, N);
        buffer.release();
    }
}
