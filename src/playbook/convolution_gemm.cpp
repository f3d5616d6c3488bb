// Convolution as a matrix product: y[K, pixels] = w[K, depth] · columns[depth, pixels]. Two strategies:
// columns packed on the fly a few tiles at a time (implicit GEMM), or read in place when they are x itself
// (1×1).
#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/convolution_strategies.h"

namespace strop::playbook {

namespace {

const char* const multiply_text = R"(
constexpr int64_t NR = NRV * VL;
constexpr int64_t BLOCK = TILES * NR;  // pixels whose sums are kept until they are complete

// The register tile: MR filters times NR pixels; rows of pixels lie `pitch` floats apart.
static inline void multiply(const float* w, const float* x, int64_t pitch, int64_t depth, float* sums,
                            bool first) {
    vec sum[MR][NRV];
    for (int i = 0; i < MR; ++i)
        for (int j = 0; j < NRV; ++j) sum[i][j] = first ? vec{} : load(sums + i * BLOCK + j * VL);
    for (int64_t d = 0; d < depth; ++d, w += MR, x += pitch) {@PREFETCH@
        vec pixels[NRV];
        for (int j = 0; j < NRV; ++j) pixels[j] = load(x + j * VL);
        for (int i = 0; i < MR; ++i)
            for (int j = 0; j < NRV; ++j) sum[i][j] += splat(w[i]) * pixels[j];
    }
    for (int i = 0; i < MR; ++i)
        for (int j = 0; j < NRV; ++j) store(sums + i * BLOCK + j * VL, sum[i][j]);
}
)";

const char* const pack_text = R"(
// `count` pixels of one image row, from column `left` in steps of `step`; 0 outside the image.
static inline void copy_run(const float* row, int64_t W, int64_t left, int64_t step, float* to,
                            int64_t count) {
    if (step == 1 && left >= 0 && left + count <= W) {
        if (count == NR)
            for (int64_t j = 0; j < NR; j += VL) store(to + j, load(row + left + j));
        else
            for (int64_t j = 0; j < count; ++j) to[j] = row[left + j];
        return;
    }
    for (int64_t j = 0; j < count; ++j, left += step) to[j] = left >= 0 && left < W ? row[left] : 0.0f;
}

// The columns of NR pixels from `pixel` on, rows [begin, end) of the depth (channel, row and column of the
// filter). A run of pixels within one output row stays within one image row under every tap.
static void pack_pixels(const Shape& s, const float* x, int64_t pixel, int64_t begin, int64_t end,
                        float* to) {
    const int64_t last = smaller(NR, s.P * s.Q - pixel);
    int64_t p = pixel / s.Q, q = pixel % s.Q;
    for (int64_t j = 0; j < last; ++p, q = 0) {
        const int64_t count = smaller(s.Q - q, last - j), top = p * s.stride_h - s.padding_h;
        int64_t c = begin / (s.R * s.S), r = begin / s.S % s.R, column = begin % s.S;
        float* run = to + j;
        for (int64_t d = begin; d < end; column = 0) {
            const int64_t h = top + r * s.dilation_h, stop = smaller(end, d + s.S - column);
            const float* row = x + (c * s.H + h) * s.W;
            int64_t left = q * s.stride_w - s.padding_w + column * s.dilation_w;
            for (; d < stop; ++d, left += s.dilation_w, run += NR) {
                if (h >= 0 && h < s.H)
                    copy_run(row, s.W, left, s.stride_w, run, count);
                else
                    for (int64_t i = 0; i < count; ++i) run[i] = 0;
            }
            if (++r == s.R) r = 0, ++c;
        }
        j += count;
    }
    for (int64_t d = begin; last < NR && d < end; ++d, to += NR)
        for (int64_t j = last; j < NR; ++j) to[j] = 0;
}
)";

const char* const implicit_convolve_text = R"(
// Filters [first, last) (counted in panels) of group g at the tiles [tile, end) of image n. A block of the
// depth at a time: the packed pixels of a tile stay in L1 while all filters pass over them.
static void convolve_block(const Shape& s, const Operands& t, const float* packed, int64_t n, int64_t g,
                           int64_t tile, int64_t end, int64_t first, int64_t last) {
    const int64_t channels = s.C / s.groups, filters = s.K / s.groups, depth = channels * s.R * s.S;
    const int64_t blocks = larger(1, ceildiv(depth, KC)), block = larger(1, ceildiv(depth, blocks));
    float* pixels = scratch<float, 0>(block * NR);
    float* sums = scratch<float, 1>((last - first) * MR * BLOCK);
    const float* x = t.@X@ + (n * s.C + g * channels) * s.H * s.W;
    const float* w = packed + g * ceildiv(filters, MR) * depth * MR;
    for (int64_t d = 0; d == 0 || d < depth; d += block) {
        const int64_t rows = smaller(block, depth - d);
        for (int64_t i = tile; i < end; ++i) {
            pack_pixels(s, x, i * NR, d, d + rows, pixels);
            for (int64_t panel = first; panel < last; ++panel)
                multiply(w + (panel * depth + d) * MR, pixels, NR, rows,
                         sums + (panel - first) * MR * BLOCK + (i - tile) * NR, d == 0);
        }
    }
    for (int64_t k = first * MR; k < smaller(last * MR, filters); ++k)
        finish(s, t, n, g * filters + k, tile * NR, sums + (k - first * MR) * BLOCK,
               smaller((end - tile) * NR, s.P * s.Q - tile * NR));
}
)";

const char* const in_place_convolve_text = R"(
// The output that pixel `pixel` of an image becomes; the padding behind a pixel goes with it.
static inline int64_t output_of(const Shape& s, int64_t pixel) {
    if (pixel == 0) return 0;
    if (pixel == s.H * s.W) return s.P * s.Q;
    return (pixel / s.W + s.padding_h) * s.Q + s.padding_w + pixel % s.W;
}

// Sums of pixels [begin, end), a row after the other, with the padding's zeros between them.
static void spread(const Shape& s, const float* sums, int64_t begin, int64_t end, float* to) {
    const int64_t from = output_of(s, begin), until = output_of(s, end);
    for (int64_t i = 0; i < until - from; ++i) to[i] = 0;
    for (int64_t pixel = begin; pixel < end;) {
        const int64_t count = smaller(s.W - pixel % s.W, end - pixel);
        float* row = to + (pixel / s.W + s.padding_h) * s.Q + s.padding_w + pixel % s.W - from;
        for (int64_t j = 0; j < count; ++j) row[j] = sums[pixel - begin + j];
        pixel += count;
    }
}

// Filters [first, last) (counted in panels) of group g at the tiles [tile, end) of image n. A block of
// channels at a time:
// @ORDER_COMMENT@
static void convolve_block(const Shape& s, const Operands& t, const float* packed, int64_t n, int64_t g,
                           int64_t tile, int64_t end, int64_t first, int64_t last) {
    const int64_t channels = s.C / s.groups, filters = s.K / s.groups, area = s.H * s.W;
    const int64_t blocks = larger(1, ceildiv(channels, KC)), block = larger(1, ceildiv(channels, blocks));
    float* sums = scratch<float, 1>((last - first) * MR * BLOCK);
    const float* x = t.@X@ + (n * s.C + g * channels) * area;
    // A last tile that is not full is copied: vectors must not read past x.
    const bool ragged = end * NR > area;
    float* edge = ragged ? scratch<float, 2>(channels * NR) : nullptr;
    for (int64_t c = 0; ragged && c < channels; ++c)
        for (int64_t j = 0; j < NR; ++j)
            edge[c * NR + j] = (end - 1) * NR + j < area ? x[c * area + (end - 1) * NR + j] : 0.0f;
    const float* w = packed + g * ceildiv(filters, MR) * channels * MR;
    for (int64_t c = 0; c == 0 || c < channels; c += block)
@ORDER@ {
                const bool at_edge = ragged && i == end - 1;
                multiply(w + (panel * channels + c) * MR, at_edge ? edge + c * NR : x + c * area + i * NR,
                         at_edge ? NR : area, smaller(block, channels - c),
                         sums + (panel - first) * MR * BLOCK + (i - tile) * NR, c == 0);
            }
    const int64_t pixels_end = smaller(end * NR, area), from = output_of(s, tile * NR),
                  count = output_of(s, pixels_end) - from;
    float* padded = s.P * s.Q == area ? nullptr : scratch<float, 3>(count);
    for (int64_t k = first * MR; k < smaller(last * MR, filters); ++k) {
        const float* row = sums + (k - first * MR) * BLOCK;
        if (padded) spread(s, row, tile * NR, pixels_end, padded);
        finish(s, t, n, g * filters + k, from, padded ? padded : row, count);
    }
}
)";

const char* const convolve_text = R"(
static void convolve(const Shape& s, const Operands& t) {
    const int64_t panels = ceildiv(s.K / s.groups, MR);
    float* packed = scratch<float, 4>(s.groups * panels * (s.C / s.groups) * s.R * s.S * MR);
    const int64_t tiles = ceildiv(@AREA@, NR), blocks = ceildiv(tiles, TILES),
                  pixel_tasks = s.N * s.groups * blocks;
    // Few pixels: the filters are shared out too.
    const int64_t splits = larger(1, smaller(panels, MIN_TASKS / pixel_tasks)),
                  split = ceildiv(panels, splits);
    team::Queue tasks{pixel_tasks * splits, 1};
    team::parallel(s.threads(PARALLEL_MIN), [=, &tasks](team::Member me) {
        for (int64_t panel = me.begin(s.groups * panels); panel < me.end(s.groups * panels); ++panel)
            pack_weights(s, t.@W@, panel, packed);
        me.barrier();
        for (int64_t task, end; tasks.take(task, end);) {
            const int64_t place = task / splits, first = task % splits * split, tile = place % blocks * TILES;
            const int64_t g = place / blocks % s.groups, n = place / blocks / s.groups;
            convolve_block(s, t, packed, n, g, tile, smaller(tiles, tile + TILES), first,
                           smaller(panels, first + split));
        }
    });
}
)";

const char* const prefetch_text = R"(
        __builtin_prefetch(x + 4 * pitch);)";

const char* const tiles_outside = R"(        for (int64_t i = tile; i < end; ++i)
            for (int64_t panel = first; panel < last; ++panel))";
const char* const panels_outside = R"(        for (int64_t panel = first; panel < last; ++panel)
            for (int64_t i = tile; i < end; ++i))";

std::string in_place_text(bool weights_stay) {
    std::string text = replace_all(in_place_convolve_text, "@ORDER@", weights_stay ? panels_outside : tiles_outside);
    return replace_all(text, "@ORDER_COMMENT@",
                       weights_stay ? "a panel's weights stay in L1 while they pass over the tiles."
                                    : "a tile's pixels stay in L1 while all filters pass over them.");
}

std::string body(const ConvolutionForm& form, const std::string& pack, const std::string& block,
                 const std::string& prefetch) {
    std::string text = replace_all(multiply_text, "@PREFETCH@", prefetch) + pack + block +
                       replace_all(convolve_text, "@AREA@", pack.empty() ? "s.H * s.W" : "s.P * s.Q");
    return replace_all(replace_all(text, "@X@", form.x), "@W@", form.w);
}

std::string tunables(const Machine& machine, const std::string& depth, const std::string& tiles) {
    return RegisterTile(machine).tunables("MR", "NRV") + fmt::format(
                                                             "// strop:late KC = {}\n"
                                                             "// strop:tune TILES = {}\n"
                                                             "// strop:late MIN_TASKS = 8 | 2 | 32\n"
                                                             "// strop:late PARALLEL_MIN = 300000 | 100000 | 1000000\n",
                                                             depth, tiles);
}

Configuration initial_of(const Machine& machine, int64_t depth, int64_t tiles) {
    RegisterTile tile(machine);
    return {{"VL", tile.lanes},
            {"MR", tile.wide()},
            {"NRV", int64_t{3}},
            {"KC", depth},
            {"TILES", tiles},
            {"MIN_TASKS", int64_t{8}},
            {"PARALLEL_MIN", int64_t{300000}}};
}

}  // namespace

void add_implicit_gemm(const ConvolutionContext& context, Recipes& recipes) {
    ConvolutionText text;
    text.panels = true;
    text.head =
        "// Implicit GEMM: the columns (im2col) of a tile of pixels are packed into cache on the fly and\n"
        "// multiplied by packed weights; nothing of the size of the whole im2col matrix exists.\n";
    text.tunables = tunables(context.machine, "288 | 144 | 192 | 384 | 576", "4 | 1 | 2 | 8");
    Strategy strategy;
    strategy.id = "implicit_gemm";
    strategy.hypothesis =
        "Packing the pixels of a tile once for all filters gives the register tile contiguous, "
        "cache-resident operands for every stride, dilation and group.";
    strategy.bottleneck = "compute";
    strategy.excludes = {"shifted_planes", "filter_lanes", "winograd"};
    strategy.confidence = 0.5;
    Configuration initial = initial_of(context.machine, 288, 4);
    text.body = body(context.form, pack_text, implicit_convolve_text, "");
    recipes.recipes.push_back(make_recipe(context, strategy, text, initial, recipes.lacks));
    text.body = body(context.form, pack_text, implicit_convolve_text, prefetch_text);
    Recipe variant = make_recipe(context, strategy, text, initial, recipes.lacks);
    variant.suffix = "prefetch";
    recipes.recipes.back().variants.push_back(std::move(variant));
}

void add_pointwise_gemm(const ConvolutionContext& context, Recipes& recipes) {
    const ConvolutionForm& form = context.form;
    std::optional<std::string> condition =
        all_equal({{form.kernel[1], 1}, {form.kernel[2], 1}, {form.stride[1], 1}, {form.stride[2], 1}});
    if (!condition) return;
    ConvolutionText text;
    text.panels = true;
    text.head =
        "// 1×1 convolution as a plain matrix product an image: x is read in place, the weights are "
        "packed.\n";
    text.tunables = tunables(context.machine, "128 | 64 | 256 | 512", "4 | 1 | 2 | 8");
    Strategy strategy;
    strategy.id = "pointwise_gemm";
    strategy.hypothesis =
        "With one tap the image already is the matrix of columns, so nothing of x is copied; padding is "
        "put around the results.";
    strategy.bottleneck = "compute";
    strategy.excludes = {"implicit_gemm", "filter_lanes", "shifted_planes"};
    strategy.confidence = 0.7;
    Configuration initial = initial_of(context.machine, 128, 4);
    text.body = body(form, "", in_place_text(false), prefetch_text);
    Recipe recipe = make_recipe(context, strategy, text, initial, recipes.lacks);
    text.body = body(form, "", in_place_text(true), prefetch_text);
    Recipe variant = make_recipe(context, strategy, text, initial, recipes.lacks);
    variant.suffix = "weights_stay";
    for (Recipe* each : {&recipe, &variant})
        if (!condition->empty()) each->condition = Expression::parse(*condition);
    recipe.variants.push_back(std::move(variant));
    recipes.recipes.push_back(std::move(recipe));
}

}  // namespace strop::playbook
