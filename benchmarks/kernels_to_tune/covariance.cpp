// g[N, N] = the products of the columns of x[M, N], in tiles of the result and pieces of the columns.
// strop:team
// strop:tune TILE_I = 16 | 4 | 8 | 32 | 64 | 128
// strop:tune TILE_J = 64 | 16 | 32 | 128 | 256 | 512
// strop:tune PIECE = 16 | 1 | 4 | 8 | 32 | 64 | 256
// strop:tune ROWS = 1 | 2 | 4 | 8
// strop:tune KEEP = 0 | 1
#include <algorithm>
#include <cstdint>

static void add_products(const float* x, float* g, int64_t N, int64_t i, int64_t rows, int64_t j, int64_t columns,
                         int64_t pieces) {
    if (KEEP) {
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c) {
                float sum = g[(i + r) * N + j + c];
                for (int64_t m = 0; m < pieces; ++m) sum += x[m * N + i + r] * x[m * N + j + c];
                g[(i + r) * N + j + c] = sum;
            }
        return;
    }
    for (int64_t m = 0; m < pieces; ++m)
        for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < rows; ++r) g[(i + r) * N + j + c] += x[m * N + i + r] * x[m * N + j + c];
}

extern "C" void covariance(const float* x, float* g, int64_t M, int64_t N) {
    const int64_t tiles = (N + TILE_I - 1) / TILE_I;
    team::parallel(team::size(), [=](team::Member me) {
        for (int64_t tile = me.begin(tiles); tile < me.end(tiles); ++tile) {
            const int64_t first = tile * TILE_I, end = std::min<int64_t>(N, first + TILE_I);
            std::fill(g + first * N, g + end * N, 0.0f);
            for (int64_t j = 0; j < N; j += TILE_J)
                for (int64_t m = 0; m < M; m += PIECE)
                    for (int64_t i = first; i < end; i += ROWS)
                        add_products(x + m * N, g, N, i, std::min<int64_t>(ROWS, end - i), j,
                                     std::min<int64_t>(TILE_J, N - j), std::min<int64_t>(PIECE, M - m));
        }
    });
}
