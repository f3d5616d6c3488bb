// honest: packs the weights at every call, into memory that stays
// problem: linear_relu
// expect: ok
#include <stddef.h>
#include <stdint.h>

#include <vector>
extern "C" void linear_relu(const float* x, const float* w, const float* b, float* y, int64_t M, int64_t I, int64_t O) {
    static std::vector<float> packed;
    const int64_t panels = (O + 7) / 8;
    packed.assign(static_cast<size_t>(panels * I * 8), 0);
    for (int64_t o = 0; o < O; ++o)
        for (int64_t i = 0; i < I; ++i) packed[static_cast<size_t>((o / 8 * I + i) * 8 + o % 8)] = w[o * I + i];
    for (int64_t m = 0; m < M; ++m)
        for (int64_t panel = 0; panel < panels; ++panel) {
            float sums[8] = {};
            const float* weights = packed.data() + panel * I * 8;
            for (int64_t i = 0; i < I; ++i)
                for (int lane = 0; lane < 8; ++lane) sums[lane] += x[m * I + i] * weights[i * 8 + lane];
            for (int64_t o = panel * 8; o < O && o < panel * 8 + 8; ++o) {
                const float value = sums[o % 8] + b[o];
                y[m * O + o] = value > 0 ? value : 0;
            }
        }
}
