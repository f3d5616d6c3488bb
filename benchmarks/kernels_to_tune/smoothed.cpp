// y[H, W] = x[H, W] after eight steps in which each point becomes the mean of itself and its four neighbours, those
// beside the edge being 0: in tiles that carry as wide a border along as they need for some steps.
// strop:team
// strop:tune TILE_H = 32 | 8 | 16 | 64 | 128 | 256
// strop:tune TILE_W = 64 | 32 | 128 | 256 | 512 | 1024
// strop:tune STEPS = 1 | 2 | 4 | 8
// strop:tune ROWS = 1 | 2 | 4
#include <algorithm>
#include <cstdint>
#include <vector>

constexpr int64_t all_steps = 8, pitch = TILE_W + 2 * STEPS + 2;

static void load(const float* x, float* tile, int64_t H, int64_t W, int64_t top, int64_t left) {
    for (int64_t i = 0; i < TILE_H + 2 * STEPS + 2; ++i)
        for (int64_t j = 0; j < pitch; ++j) {
            const int64_t row = top + i, column = left + j;
            const bool inside = row >= 0 && row < H && column >= 0 && column < W;
            tile[i * pitch + j] = inside ? x[row * W + column] : 0;
        }
}

static void step(const float* from, float* to, int64_t H, int64_t W, int64_t top, int64_t left) {
    constexpr int64_t height = TILE_H + 2 * STEPS;
    const int64_t first = std::max<int64_t>(1, -left), last = std::min<int64_t>(pitch - 1, W - left);
    for (int64_t i = 1; i <= height; i += ROWS)
        for (int64_t r = i; r < i + ROWS && r <= height; ++r) {
            if (top + r < 0 || top + r >= H) continue;
            for (int64_t j = first; j < last; ++j) {
                const float* at = from + r * pitch + j;
                to[r * pitch + j] = 0.2f * (at[0] + at[-1] + at[1] + at[-pitch] + at[pitch]);
            }
        }
}

extern "C" void smoothed(const float* x, float* y, int64_t H, int64_t W) {
    static std::vector<float> between[2];
    for (std::vector<float>& one : between) one.resize(static_cast<size_t>(H * W));
    const int64_t across = (W + TILE_W - 1) / TILE_W, tiles = (H + TILE_H - 1) / TILE_H * across;
    for (int64_t done = 0; done < all_steps; done += STEPS) {
        const float* from = done == 0 ? x : between[done / STEPS % 2].data();
        float* to = done + STEPS == all_steps ? y : between[(done / STEPS + 1) % 2].data();
        team::parallel(team::size(), [=](team::Member me) {
            std::vector<float> one((TILE_H + 2 * STEPS + 2) * pitch), other(one.size());
            for (int64_t t = me.begin(tiles); t < me.end(tiles); ++t) {
                const int64_t top = t / across * TILE_H - STEPS - 1, left = t % across * TILE_W - STEPS - 1;
                load(from, one.data(), H, W, top, left);
                std::fill(other.begin(), other.end(), 0.0f);
                for (int64_t s = 0; s < STEPS; ++s) {
                    step(one.data(), other.data(), H, W, top, left);
                    std::swap(one, other);
                }
                for (int64_t i = STEPS + 1; i <= TILE_H + STEPS && top + i < H; ++i)
                    for (int64_t j = STEPS + 1; j <= TILE_W + STEPS && left + j < W; ++j)
                        to[(top + i) * W + left + j] = one[i * pitch + j];
            }
        });
    }
}
