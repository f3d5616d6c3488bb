// honest: powers of two come from a table that the first call computes
// problem: softmax
// expect: ok
#include <stdint.h>

#include <algorithm>
#include <cmath>
struct Table {
    double of[256];
    Table() {
        for (int i = 0; i < 256; ++i) of[i] = std::exp2(i / 256.0);
    }
};

extern "C" void softmax(const float* x, float* y, int64_t M, int64_t N) {
    static const Table table;
    for (int64_t i = 0; i < M; ++i) {
        const float* from = x + i * N;
        float* to = y + i * N;
        const float top = *std::max_element(from, from + N);
        double sum = 0;
        for (int64_t j = 0; j < N; ++j) {
            const double below = from[j] - top, least = -100;  // its power is 0 in the result's type
            const double scaled = (below < least ? least : below) * (256 / 0.6931471805599453);
            const double whole = std::floor(scaled);
            const int64_t steps = static_cast<int64_t>(whole);
            const double rest = (scaled - whole) * (0.6931471805599453 / 256);
            const double power = std::ldexp(table.of[steps & 255], static_cast<int>(steps >> 8));
            sum += to[j] = static_cast<float>(power * (1 + rest + rest * rest / 2 + rest * rest * rest / 6));
        }
        for (int64_t j = 0; j < N; ++j) to[j] = static_cast<float>(to[j] / sum);
    }
}
