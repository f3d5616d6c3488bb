// honest: a panel of eight columns is packed, used and packed over
// problem: matmul
// expect: ok
#include <stdint.h>
extern "C" void matmul(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {
    static float panel[4096 * 8];
    for (int64_t first = 0; first < N; first += 8) {
        const int64_t width = N - first < 8 ? N - first : 8;
        for (int64_t k = 0; k < K; ++k)
            for (int64_t j = 0; j < 8; ++j) panel[k * 8 + j] = j < width ? b[k * N + first + j] : 0;
        for (int64_t i = 0; i < M; ++i) {
            float sums[8] = {};
            for (int64_t k = 0; k < K; ++k)
                for (int j = 0; j < 8; ++j) sums[j] += a[i * K + k] * panel[k * 8 + j];
            for (int64_t j = 0; j < width; ++j) c[i * N + first + j] = sums[j];
        }
    }
}
