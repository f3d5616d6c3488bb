// c[M, N] = a[M, K] b[K, N] in tiles, some rows of a tile at a time.
// strop:team
// strop:tune TILE_M = 32 | 8 | 16 | 64 | 128 | 256
// strop:tune TILE_N = 32 | 16 | 64 | 128 | 256 | 512
// strop:tune TILE_K = 32 | 8 | 16 | 64 | 128 | 256
// strop:tune ROWS = 1 | 2 | 4 | 8
// strop:tune K_OUTSIDE = 0 | 1
#include <algorithm>
#include <cstdint>

static void tile(const float* a, const float* b, float* c, int64_t N, int64_t K, int64_t i, int64_t rows, int64_t j,
                 int64_t columns, int64_t k, int64_t terms) {
    int64_t row = i;
    for (; row + ROWS <= i + rows; row += ROWS)
        for (int64_t term = k; term < k + terms; ++term)
            for (int64_t column = j; column < j + columns; ++column)
                for (int64_t r = 0; r < ROWS; ++r)
                    c[(row + r) * N + column] += a[(row + r) * K + term] * b[term * N + column];
    for (; row < i + rows; ++row)
        for (int64_t term = k; term < k + terms; ++term)
            for (int64_t column = j; column < j + columns; ++column)
                c[row * N + column] += a[row * K + term] * b[term * N + column];
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {
    const int64_t tiles = (M + TILE_M - 1) / TILE_M;
    team::parallel(team::size(), [=](team::Member me) {
        for (int64_t t = me.begin(tiles); t < me.end(tiles); ++t) {
            const int64_t i = t * TILE_M, rows = std::min<int64_t>(TILE_M, M - i);
            std::fill(c + i * N, c + (i + rows) * N, 0.0f);
            const int64_t outer = K_OUTSIDE ? K : N, outer_step = K_OUTSIDE ? TILE_K : TILE_N;
            const int64_t inner = K_OUTSIDE ? N : K, inner_step = K_OUTSIDE ? TILE_N : TILE_K;
            for (int64_t o = 0; o < outer; o += outer_step)
                for (int64_t n = 0; n < inner; n += inner_step) {
                    const int64_t j = K_OUTSIDE ? n : o, k = K_OUTSIDE ? o : n;
                    tile(a, b, c, N, K, i, rows, j, std::min<int64_t>(TILE_N, N - j), k,
                         std::min<int64_t>(TILE_K, K - k));
                }
        }
    });
}
