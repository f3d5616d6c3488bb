// y[F, H, W] = 3x3 filters w[F, C, 3, 3] over x[C, H+2, W+2], in tiles of filters, channels and rows.
// strop:team
// strop:tune TILE_F = 4 | 1 | 2 | 8 | 16 | 32
// strop:tune TILE_C = 8 | 1 | 2 | 4 | 16 | 32 | 64
// strop:tune TILE_H = 4 | 1 | 2 | 8 | 16
// strop:tune FILTERS = 1 | 2 | 4 | 8
// strop:tune TAPS_INSIDE = 0 | 1
#include <algorithm>
#include <cstdint>

static void row(const float* x, const float* w, float* y, int64_t C, int64_t H, int64_t W, int64_t filters, int64_t c) {
    for (int64_t tap = 0; tap < (TAPS_INSIDE ? 1 : 9); ++tap)
        for (int64_t j = 0; j < W; ++j)
            for (int64_t f = 0; f < filters; ++f) {
                float sum = y[f * H * W + j];
                const float* taps = w + (f * C + c) * 9;
                for (int64_t t = TAPS_INSIDE ? 0 : tap; t < (TAPS_INSIDE ? 9 : tap + 1); ++t)
                    sum += taps[t] * x[t / 3 * (W + 2) + j + t % 3];
                y[f * H * W + j] = sum;
            }
}

extern "C" void convolution(const float* x, const float* w, float* y, int64_t C, int64_t H, int64_t W, int64_t F) {
    const int64_t tiles = (F + TILE_F - 1) / TILE_F;
    team::parallel(team::size(), [=](team::Member me) {
        for (int64_t tile = me.begin(tiles); tile < me.end(tiles); ++tile) {
            const int64_t first = tile * TILE_F, end = std::min<int64_t>(F, first + TILE_F);
            std::fill(y + first * H * W, y + end * H * W, 0.0f);
            for (int64_t i0 = 0; i0 < H; i0 += TILE_H)
                for (int64_t c0 = 0; c0 < C; c0 += TILE_C)
                    for (int64_t f = first; f < end; f += FILTERS)
                        for (int64_t i = i0; i < std::min<int64_t>(H, i0 + TILE_H); ++i)
                            for (int64_t c = c0; c < std::min<int64_t>(C, c0 + TILE_C); ++c)
                                row(x + (c * (H + 2) + i) * (W + 2), w + f * C * 9, y + (f * H + i) * W, C, H, W,
                                    std::min<int64_t>(FILTERS, end - f), c);
        }
    });
}
