// Winograd's minimal filtering F(m×m, 3×3) (Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", CVPR 2016): m = 2 takes 2.25 times fewer multiplications than the direct form, m = 4 four times,
// at a larger error.
#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/convolution_strategies.h"

namespace strop::playbook {

namespace {

// The one-dimensional transforms; an element of a line lies `step` behind its neighbour.
const char* const transforms_2 = R"(
constexpr int64_t OUT = 2;               // an output tile is OUT × OUT
constexpr int64_t EDGE = OUT + 2;        // its input tile is EDGE × EDGE
constexpr int64_t POINTS = EDGE * EDGE;  // products in the transformed domain
constexpr int64_t NR = NRV * VL;
constexpr int64_t BLOCK = TILES * NR;  // output tiles of one task
constexpr int64_t ROW = BLOCK + VL;    // a vector may overhang its row

static inline void transform_input(const vec* d, int64_t step, vec* to) {
    to[0] = d[0] - d[2 * step];
    to[step] = d[step] + d[2 * step];
    to[2 * step] = d[2 * step] - d[step];
    to[3 * step] = d[step] - d[3 * step];
}

static inline void transform_filter(const vec* g, int64_t g_step, vec* to, int64_t step) {
    const vec ends = 0.5f * (g[0] + g[2 * g_step]), middle = 0.5f * g[g_step];
    to[0] = g[0];
    to[step] = ends + middle;
    to[2 * step] = ends - middle;
    to[3 * step] = g[2 * g_step];
}

static inline void transform_output(const vec* m, int64_t step, vec* to, int64_t to_step) {
    to[0] = m[0] + m[step] + m[2 * step];
    to[to_step] = m[step] - m[2 * step] - m[3 * step];
}
)";

const char* const transforms_4 = R"(
constexpr int64_t OUT = 4;               // an output tile is OUT × OUT
constexpr int64_t EDGE = OUT + 2;        // its input tile is EDGE × EDGE
constexpr int64_t POINTS = EDGE * EDGE;  // products in the transformed domain
constexpr int64_t NR = NRV * VL;
constexpr int64_t BLOCK = TILES * NR;  // output tiles of one task
constexpr int64_t ROW = BLOCK + VL;    // a vector may overhang its row

static inline void transform_input(const vec* d, int64_t step, vec* to) {
    const vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
    const vec even = d4 - 4.0f * d2, odd = d3 - 4.0f * d1, even_2 = d4 - d2, odd_2 = 2.0f * (d3 - d1);
    to[0] = 4.0f * d0 - 5.0f * d2 + d4;
    to[step] = even + odd;
    to[2 * step] = even - odd;
    to[3 * step] = even_2 + odd_2;
    to[4 * step] = even_2 - odd_2;
    to[5 * step] = 4.0f * d1 - 5.0f * d3 + d5;
}

static inline void transform_filter(const vec* g, int64_t g_step, vec* to, int64_t step) {
    const vec g0 = g[0], g1 = g[g_step], g2 = g[2 * g_step];
    const vec ends = (g0 + g2) * (1 / 6.0f), middle = g1 * (1 / 6.0f);
    const vec ends_2 = g0 * (1 / 24.0f) + g2 * (1 / 6.0f), middle_2 = g1 * (1 / 12.0f);
    to[0] = g0 * 0.25f;
    to[step] = -ends - middle;
    to[2 * step] = -ends + middle;
    to[3 * step] = ends_2 + middle_2;
    to[4 * step] = ends_2 - middle_2;
    to[5 * step] = g2;
}

static inline void transform_output(const vec* m, int64_t step, vec* to, int64_t to_step) {
    const vec sum_1 = m[step] + m[2 * step], difference_1 = m[step] - m[2 * step];
    const vec sum_2 = m[3 * step] + m[4 * step], difference_2 = m[3 * step] - m[4 * step];
    to[0] = m[0] + sum_1 + sum_2;
    to[to_step] = difference_1 + 2.0f * difference_2;
    to[2 * to_step] = sum_1 + 4.0f * sum_2;
    to[3 * to_step] = difference_1 + 8.0f * difference_2 + m[5 * step];
}
)";

const char* const body_text = R"(
// The padded image split into OUT × OUT phases, so that the same pixel of neighbouring input tiles is
// contiguous.
struct Tiles {
    int64_t rows, columns, pitch, phase, channel;
    int64_t weights, inputs;  // floats of one point's weights and transformed input tiles
    explicit Tiles(const Shape& s)
        : rows(ceildiv(s.P, OUT)),
          columns(ceildiv(s.Q, OUT)),
          pitch(columns + 1),
          phase((rows + 1) * pitch),
          channel(OUT * OUT * phase),
          weights(s.C * MR + VL),
          // Points are written together: they must lie in different cache sets.
          inputs((s.C * ROW + 511) / 512 * 512 + 16) {}
};

// Transforms the weights of one panel of MR filters, filters in the lanes: [point][channel][MR], filters past
// the end are 0. A vector may overhang its channel, whose end the next channel overwrites.
static void transform_weights(const Shape& s, const Tiles& tiles, const float* w, int64_t panel, float* to) {
    to += panel * POINTS * tiles.weights;
    for (int64_t c = 0; c < s.C; ++c)
        for (int64_t i = 0; i < MR; i += VL) {
            float lanes[9 * VL] = {};
            const int64_t first = panel * MR + i, count = smaller(smaller(VL, MR - i), s.K - first);
            for (int64_t lane = 0; lane < count; ++lane)
                for (int64_t j = 0; j < 9; ++j) lanes[j * VL + lane] = w[((first + lane) * s.C + c) * 9 + j];
            vec g[9], half[EDGE * 3], whole[POINTS];
            for (int j = 0; j < 9; ++j) g[j] = load(lanes + j * VL);
            for (int j = 0; j < 3; ++j) transform_filter(g + j, 3, half + j, 3);
            for (int j = 0; j < EDGE; ++j) transform_filter(half + j * 3, 1, whole + j * EDGE, 1);
            for (int point = 0; point < POINTS; ++point)
                store(to + point * tiles.weights + c * MR + i, whole[point]);
        }
}

// The input tiles [begin, begin + count) of the batch in the transformed domain: [point][channel][ROW].
static void transform_tiles(const Shape& s, const Tiles& tiles, const float* phases, int64_t begin,
                            int64_t count, float* to) {
    for (int64_t done = 0; done < count;) {
        const int64_t row = (begin + done) / tiles.columns, column = (begin + done) % tiles.columns;
        const int64_t run = smaller(count - done, tiles.columns - column);
        const float* from =
            phases + row / tiles.rows * s.C * tiles.channel + row % tiles.rows * tiles.pitch + column;
        for (int64_t c = 0; c < s.C; ++c, from += tiles.channel)
            // A vector that overhangs its run is overwritten by the next one.
            for (int64_t j = 0; j < run; j += VL) {
                vec d[POINTS], e[POINTS];
                for (int y = 0; y < EDGE; ++y)
                    for (int x = 0; x < EDGE; ++x)
                        d[y * EDGE + x] = load(from + j + (y % OUT * OUT + x % OUT) * tiles.phase +
                                               y / OUT * tiles.pitch + x / OUT);
                for (int x = 0; x < EDGE; ++x) transform_input(d + x, EDGE, e + x);
                for (int y = 0; y < EDGE; ++y) transform_input(e + y * EDGE, 1, d + y * EDGE);
                for (int point = 0; point < POINTS; ++point)
                    store(to + point * tiles.inputs + c * ROW + done + j, d[point]);
            }
        done += run;
    }
}

// The register tile of one point: MR filters times NR tiles, added up over the channels.
static inline void multiply(const float* w, const float* x, int64_t channels, float* products) {
    vec sum[MR][NRV] = {};
    for (int64_t c = 0; c < channels; ++c, w += MR, x += ROW) {
        vec tile[NRV];
        for (int j = 0; j < NRV; ++j) tile[j] = load(x + j * VL);
        for (int i = 0; i < MR; ++i)
            for (int j = 0; j < NRV; ++j) sum[i][j] += splat(w[i]) * tile[j];
    }
    for (int i = 0; i < MR; ++i)
        for (int j = 0; j < NRV; ++j) store(products + i * BLOCK + j * VL, sum[i][j]);
}

// Back from the products of one filter to OUT rows of pixels, the tiles side by side.
static void transform_products(const float* products, int64_t count, float* __restrict spread,
                               float* __restrict rows) {
    for (int64_t j = 0; j < count; j += VL) {
        vec m[POINTS], half[OUT * EDGE], pixels[OUT * OUT];
        for (int point = 0; point < POINTS; ++point) m[point] = load(products + point * MR * BLOCK + j);
        for (int x = 0; x < EDGE; ++x) transform_output(m + x, EDGE, half + x, EDGE);
        for (int y = 0; y < OUT; ++y) transform_output(half + y * EDGE, 1, pixels + y * OUT, 1);
        for (int i = 0; i < OUT * OUT; ++i) store(spread + i * BLOCK + j, pixels[i]);
    }
    for (int64_t y = 0; y < OUT; ++y)
        for (int64_t j = 0; j < count; ++j)
            for (int64_t x = 0; x < OUT; ++x)
                rows[(y * BLOCK + j) * OUT + x] = spread[(y * OUT + x) * BLOCK + j];
}

// The output tiles [begin, begin + count) of the batch for the panels [first, last).
static void convolve_block(const Shape& s, const Operands& t, const Tiles& tiles, const float* phases,
                           const float* w, int64_t begin, int64_t count, int64_t first, int64_t last) {
    float* x = scratch<float, 0>(POINTS * tiles.inputs);
    float* products = scratch<float, 1>((POINTS * MR + 2 * OUT * OUT) * BLOCK);
    float* spread = products + POINTS * MR * BLOCK;
    float* rows = spread + OUT * OUT * BLOCK;
    transform_tiles(s, tiles, phases, begin, count, x);
    for (int64_t panel = first; panel < last; ++panel) {
        for (int64_t point = 0; point < POINTS; ++point)
            for (int64_t j = 0; j < count; j += NR)
                multiply(w + (panel * POINTS + point) * tiles.weights, x + point * tiles.inputs + j, s.C,
                         products + point * MR * BLOCK + j);
        for (int64_t i = 0; i < smaller(MR, s.K - panel * MR); ++i) {
            transform_products(products + i * BLOCK, count, spread, rows);
            for (int64_t done = 0; done < count;) {
                const int64_t row = (begin + done) / tiles.columns, column = (begin + done) % tiles.columns;
                const int64_t n = row / tiles.rows, p = row % tiles.rows * OUT, q = column * OUT;
                const int64_t run = smaller(count - done, tiles.columns - column);
                for (int64_t y = 0; y < smaller(OUT, s.P - p); ++y)
                    finish(s, t, n, panel * MR + i, (p + y) * s.Q + q, rows + (y * BLOCK + done) * OUT,
                           smaller(run * OUT, s.Q - q));
                done += run;
            }
        }
    }
}

static void convolve(const Shape& s, const Operands& t) {
    const Tiles tiles(s);
    const int64_t panels = ceildiv(s.K, MR), count = s.N * tiles.rows * tiles.columns;
    // The last vector reads past the last phase.
    float* x = scratch<float, 2>(s.N * s.C * tiles.channel + VL);
    float* w = scratch<float, 3>(panels * POINTS * tiles.weights);
    for (int64_t j = 0; j < VL; ++j) x[s.N * s.C * tiles.channel + j] = 0;
    const int64_t blocks = ceildiv(count, BLOCK);
    // Few pixels: the filters are shared out too.
    const int64_t splits = larger(1, smaller(panels, MIN_TASKS / blocks)), split = ceildiv(panels, splits);
    team::Queue tasks{blocks * splits, 1};
    team::parallel(s.threads(PARALLEL_MIN), [=, &tasks](team::Member me) {
        for (int64_t panel = me.begin(panels); panel < me.end(panels); ++panel)
            transform_weights(s, tiles, t.@W@, panel, w);
        for (int64_t c = me.begin(s.N * s.C); c < me.end(s.N * s.C); ++c)
            for (int64_t i = 0; i < OUT * OUT; ++i)
                split_plane(t.@X@ + c * s.H * s.W, s.H, s.W, s.padding_h - i / OUT, s.padding_w - i % OUT,
                            OUT, OUT, x + c * tiles.channel + i * tiles.phase, tiles.rows + 1, tiles.pitch);
        me.barrier();
        for (int64_t task, end; tasks.take(task, end);) {
            const int64_t begin = task / splits * BLOCK, first = task % splits * split;
            convolve_block(s, t, tiles, x, w, begin, smaller(BLOCK, count - begin), first,
                           smaller(panels, first + split));
        }
    });
}
)";

ConvolutionText winograd_source(const ConvolutionContext& context, int out) {
    ConvolutionText text;
    text.planes = true;
    text.head = fmt::format(
        "// Winograd F({0}×{0}, 3×3): tiles of {1}×{1} pixels and 3×3 filters are transformed, multiplied\n"
        "// point by point as small matrix products over the channels, and transformed back.\n",
        out, out + 2);
    text.tunables = RegisterTile(context.machine).tunables("MR", "NRV") +
                    fmt::format("// strop:tune TILES = {}\n", out == 2 ? "2 | 1 | 3 | 4" : "1 | 2 | 3") +
                    "// strop:late MIN_TASKS = 4 | 1 | 16\n"
                    "// strop:late PARALLEL_MIN = 300000 | 100000 | 1000000\n";
    text.body = std::string(out == 2 ? transforms_2 : transforms_4) + body_text;
    text.body = replace_all(replace_all(text.body, "@X@", context.form.x), "@W@", context.form.w);
    return text;
}

}  // namespace

void add_winograd(const ConvolutionContext& context, Recipes& recipes) {
    const ConvolutionForm& form = context.form;
    std::optional<std::string> condition = all_equal({{form.kernel[1], 3},
                                                      {form.kernel[2], 3},
                                                      {form.stride[1], 1},
                                                      {form.stride[2], 1},
                                                      {form.dilation[1], 1},
                                                      {form.dilation[2], 1},
                                                      {form.groups, 1}});
    if (!condition) return;
    RegisterTile tile(context.machine);
    Configuration initial = {{"VL", tile.lanes},    {"MR", tile.tall()},       {"NRV", int64_t{2}},
                             {"TILES", int64_t{2}}, {"MIN_TASKS", int64_t{4}}, {"PARALLEL_MIN", int64_t{300000}}};
    Strategy strategy;
    strategy.id = "winograd";
    strategy.hypothesis =
        "Minimal filtering does 3×3 filters with 2.25 times (tiles of 2×2) or 4 times (4×4) fewer "
        "multiplications; the transforms cost little once there are many channels.";
    strategy.bottleneck = "compute";
    strategy.excludes = {"implicit_gemm", "shifted_planes", "filter_lanes"};
    strategy.confidence = 0.7;
    Recipe recipe = make_recipe(context, strategy, winograd_source(context, 2), initial, recipes.lacks);
    initial["TILES"] = int64_t{1};
    Recipe variant = make_recipe(context, strategy, winograd_source(context, 4), initial, recipes.lacks);
    variant.suffix = "tiles_of_4";
    for (Recipe* each : {&recipe, &variant})
        if (!condition->empty()) each->condition = Expression::parse(*condition);
    recipe.variants.push_back(std::move(variant));
    recipes.recipes.push_back(std::move(recipe));
}

}  // namespace strop::playbook
