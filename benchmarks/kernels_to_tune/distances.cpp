// d[M, N] = squared distances of the rows of x[M, D] and of y[N, D].
// strop:team
// strop:tune TILE_M = 16 | 4 | 8 | 32 | 64 | 128
// strop:tune TILE_N = 16 | 4 | 8 | 32 | 64 | 128 | 256
// strop:tune TILE_D = 64 | 8 | 16 | 32 | 128 | 256
// strop:tune COLUMNS = 1 | 2 | 4 | 8
// strop:tune PARTIAL_SUMS = 1 | 4 | 16 | 32
#include <algorithm>
#include <cstdint>

static void add_parts(const float* x, const float* y, float* d, int64_t D, int64_t columns, int64_t terms) {
    for (int64_t n = 0; n < columns; ++n) {
        float sums[PARTIAL_SUMS] = {};
        int64_t k = 0;
        for (; k + PARTIAL_SUMS <= terms; k += PARTIAL_SUMS)
            for (int64_t lane = 0; lane < PARTIAL_SUMS; ++lane) {
                const float difference = x[k + lane] - y[n * D + k + lane];
                sums[lane] += difference * difference;
            }
        for (; k < terms; ++k) sums[0] += (x[k] - y[n * D + k]) * (x[k] - y[n * D + k]);
        for (int64_t lane = 0; lane < PARTIAL_SUMS; ++lane) d[n] += sums[lane];
    }
}

extern "C" void distances(const float* x, const float* y, float* d, int64_t M, int64_t D, int64_t N) {
    const int64_t tiles = (M + TILE_M - 1) / TILE_M;
    team::parallel(team::size(), [=](team::Member me) {
        for (int64_t tile = me.begin(tiles); tile < me.end(tiles); ++tile) {
            const int64_t first = tile * TILE_M, end = std::min<int64_t>(M, first + TILE_M);
            std::fill(d + first * N, d + end * N, 0.0f);
            for (int64_t k = 0; k < D; k += TILE_D)
                for (int64_t n0 = 0; n0 < N; n0 += TILE_N)
                    for (int64_t m = first; m < end; ++m)
                        for (int64_t n = n0; n < std::min<int64_t>(N, n0 + TILE_N); n += COLUMNS)
                            add_parts(x + m * D + k, y + n * D + k, d + m * N + n, D, std::min<int64_t>(COLUMNS, N - n),
                                      std::min<int64_t>(TILE_D, D - k));
        }
    });
}
