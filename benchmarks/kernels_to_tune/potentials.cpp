// p[N] = the sum of m[j] / sqrt(squared distance of points i and j + 0.01) over all j.
// strop:team
// strop:tune POINTS = 1 | 2 | 4 | 8 | 16 | 32
// strop:tune TILE = 256 | 32 | 64 | 128 | 512 | 1024 | 4096
// strop:tune LANES = 1 | 4 | 8 | 16 | 32
// strop:tune OVER_POINTS = 0 | 1
#include <algorithm>
#include <cmath>
#include <cstdint>

static inline float pull(float x, float y, float z, float m) { return m / std::sqrt(x * x + y * y + z * z + 0.01f); }

static void of_point(const float* x, const float* y, const float* z, const float* m, float* p, int64_t i, int64_t j,
                     int64_t end) {
    float sums[LANES] = {};
    for (; j + LANES <= end; j += LANES)
        for (int64_t lane = 0; lane < LANES; ++lane)
            sums[lane] += pull(x[i] - x[j + lane], y[i] - y[j + lane], z[i] - z[j + lane], m[j + lane]);
    for (; j < end; ++j) sums[0] += pull(x[i] - x[j], y[i] - y[j], z[i] - z[j], m[j]);
    for (float sum : sums) p[i] += sum;
}

extern "C" void potentials(const float* x, const float* y, const float* z, const float* m, float* p, int64_t N) {
    const int64_t groups = (N + POINTS - 1) / POINTS;
    team::parallel(team::size(), [=](team::Member me) {
        const int64_t first = me.begin(groups) * POINTS, last = std::min<int64_t>(N, me.end(groups) * POINTS);
        std::fill(p + first, p + std::max(first, last), 0.0f);
        for (int64_t j = 0; j < N; j += TILE)
            for (int64_t i = first; i < last; i += POINTS) {
                const int64_t end = std::min<int64_t>(N, j + TILE), points = std::min<int64_t>(POINTS, last - i);
                if (OVER_POINTS) {
                    for (int64_t k = j; k < end; ++k)
                        for (int64_t q = i; q < i + points; ++q)
                            p[q] += pull(x[q] - x[k], y[q] - y[k], z[q] - z[k], m[k]);
                } else {
                    for (int64_t q = i; q < i + points; ++q) of_point(x, y, z, m, p, q, j, end);
                }
            }
    });
}
