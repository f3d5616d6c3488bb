// Depthwise convolution with channels in the vector lanes: images blocked by channels, as oneDNN's nChw16c.
#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/convolution_strategies.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

const char* const body_text = R"(
// Output rows [p, end) in plane z of VL channels of an image from `c` on, and the input rows that they read: VL channels
// of a pixel are one vector, and every row has its zero border.
struct Band {
    int64_t n, c, z, p, end;
    int64_t first, rows, pitch;  // input rows, of which the first may lie above the image; vectors of a row

    Band(const Shape& s, int64_t task, int64_t bands)
        : n(task / bands / s.Z / ceildiv(s.C, VL)),
          c(task / bands / s.Z % ceildiv(s.C, VL) * VL),
          z(task / bands % s.Z),
          p(task % bands * ROWS),
          end(smaller(s.P, p + ROWS)),
          first(p * s.stride_h - s.padding_h),
          rows((end - p - 1) * s.stride_h + (s.R - 1) * s.dilation_h + 1),
          pitch(row(s)) {}

    int64_t channels(const Shape& s) const { return smaller(VL, s.C - c); }
    // The last tile of a row reads past its border.
    static int64_t row(const Shape& s) {
        const int64_t read = (ceildiv(s.Q, QX) * QX - 1) * s.stride_w + (s.S - 1) * s.dilation_w + 1;
        return larger(s.W + s.padding_w, read) + s.padding_w;
    }
    static int64_t plane(const Shape& s) { return ((ROWS - 1) * s.stride_h + (s.R - 1) * s.dilation_h + 1) * row(s); }
    static int64_t room(const Shape& s) { return s.T * plane(s) * VL; }
};

static inline void clear(float* to, int64_t vectors) {
    for (int64_t i = 0; i < vectors; ++i) store(to + i * VL, vec{});
}

// The rows in the plane under tap t of the depth.
static void fill(const Shape& s, const Band& band, const float* x, int64_t t, float* to) {
    const int64_t d = band.z * s.stride_d + t * s.dilation_d - s.padding_d;
    x += (band.n * s.C + band.c) * s.D * s.H * s.W;
    for (int64_t i = 0; i < band.rows; ++i, to += band.pitch * VL) {
        const int64_t h = band.first + i, right = s.padding_w + s.W;
        if (d < 0 || d >= s.D || h < 0 || h >= s.H) {
            clear(to, band.pitch);
            continue;
        }
        clear(to, s.padding_w);
        to_lanes(x + (d * s.H + h) * s.W, s.D * s.H * s.W, band.channels(s), s.W, to + s.padding_w * VL, VL);
        clear(to + right * VL, band.pitch - right);
    }
}

// QX neighbouring pixels, `stride` vectors apart in the band (0: only known in the call): one vector of weights for all of
// them at each tap.
template <int64_t stride>
static inline void multiply(const float* band, int64_t any_stride, const int64_t* shift, int64_t taps, const float* w,
                            float* sums) {
    const int64_t step = (stride ? stride : any_stride) * VL;
    vec sum[QX] = {};
    for (int64_t tap = 0; tap < taps; ++tap) {
        const float* from = band + shift[tap];
        const vec weight = load(w + tap * VL);
        for (int j = 0; j < QX; ++j) sum[j] += weight * load(from + j * step);
    }
    for (int j = 0; j < QX; ++j) store(sums + j * VL, sum[j]);
}

// Filter `m` of each channel over the band. What a tile computes past its row's end is written over by the next row.
static void convolve_band(const Shape& s, const Operands& t, const Band& band, const float* from, const int64_t* shift,
                          const float* w, int64_t m, float* sums) {
    const int64_t pixels = (band.end - band.p) * s.Q, most = ceildiv(pixels, VL) * VL;
    const auto tile_of = s.stride_w == 1 ? multiply<1> : s.stride_w == 2 ? multiply<2> : multiply<0>;
    for (int64_t p = 0; p < band.end - band.p; ++p)
        for (int64_t q = 0; q < s.Q; q += QX)
            tile_of(from + (p * s.stride_h * band.pitch + q * s.stride_w) * VL, s.stride_w, shift, s.taps(), w,
                    sums + (p * s.Q + q) * VL);
    float* planes = sums + (most + QX) * VL;
    for (int64_t i = 0; i < most; i += VL) {
        vec tile[VL];
        for (int j = 0; j < VL; ++j) tile[j] = load(sums + (i + j) * VL);
        turn(tile);
        for (int lane = 0; lane < VL; ++lane) store(planes + lane * most + i, tile[lane]);
    }
    for (int64_t lane = 0; lane < band.channels(s); ++lane)
        finish(s, t, band.n, (band.c + lane) * (s.K / s.C) + m, (band.z * s.P + band.p) * s.Q, planes + lane * most,
               pixels);
}

static void convolve(const Shape& s, const Operands& t) {
    const int64_t blocks = ceildiv(s.C, VL), bands = ceildiv(s.P, ROWS), taps = s.taps(), filters = s.K / s.C;
    int64_t* shift = scratch<int64_t, 0>(taps);
    for (int64_t tap = 0; tap < taps; ++tap)
        shift[tap] = (tap / (s.R * s.S) * Band::plane(s) + tap / s.S % s.R * s.dilation_h * Band::row(s) +
                      tap % s.S * s.dilation_w) * VL;
    float* packed = scratch<float, 0>(blocks * filters * taps * VL);  // [block][filter of the channel][tap][channel]
    team::Queue tasks{s.N * blocks * s.Z * bands, 1};
    team::parallel(s.threads(PARALLEL_MIN), [=, &tasks](team::Member me) {
        for (int64_t i = me.begin(blocks * filters); i < me.end(blocks * filters); ++i) {
            const int64_t c = i / filters * VL;
            to_lanes(t.@W@ + (c * filters + i % filters) * taps, filters * taps, smaller(VL, s.C - c), taps,
                     packed + i * taps * VL, VL);
        }
        me.barrier();
        float* image = scratch<float, 1>(Band::room(s) + (2 * (ROWS * s.Q + VL) + QX) * VL);
        for (int64_t task, end; tasks.take(task, end);) {
            const Band band(s, task, bands);
            for (int64_t tap = 0; tap < s.T; ++tap) fill(s, band, t.@X@, tap, image + tap * Band::plane(s) * VL);
            for (int64_t m = 0; m < filters; ++m)
                convolve_band(s, t, band, image, shift, packed + (band.c / VL * filters + m) * taps * VL, m,
                              image + Band::room(s));
        }
    });
}
)";

}  // namespace

void add_channel_lanes(const ConvolutionContext& context, Recipes& recipes) {
    std::optional<std::string> condition = all_equal({{context.form.groups, context.form.channels}});
    if (!condition) return;
    const RegisterTile tile(context.machine);
    ConvolutionText text;
    text.head =
        "// Depthwise convolution with channels in the lanes: the rows that a band of the output reads are turned "
        "once,\n"
        "// then every tap is an aligned load, whatever the stride and the width.\n";
    text.tunables = fmt::format(
        "// strop:tune VL = {}\n"
        "// strop:tune QX = {}\n"
        "// strop:tune ROWS = 16 | 8 | 32 | 4\n"
        "// strop:require (QX + 2) * VL <= {}\n"
        "// strop:late PARALLEL_MIN = 100000 | 30000 | 300000\n",
        vector_lengths(context.machine.vector_bytes), tile.registers >= 32 ? "8 | 7 | 4 | 14 | 2" : "7 | 8 | 4 | 2 | 1",
        tile.registers * tile.lanes);
    text.helpers = {"turn", "to_lanes"};
    text.body = replace_all(replace_all(body_text, "@X@", context.form.x), "@W@", context.form.w);
    Strategy strategy;
    strategy.id = "channel_lanes";
    strategy.hypothesis =
        "With channels in the lanes no width and no stride leaves lanes empty, and every tap is one aligned load; "
        "turning pixels and results round costs four shuffles a vector.";
    strategy.bottleneck = "compute";
    strategy.excludes = {"depthwise", "implicit_gemm", "filter_lanes", "shifted_planes", "winograd"};
    strategy.confidence = 0.75;
    Configuration initial = {{"VL", tile.lanes},
                             {"QX", int64_t{tile.registers >= 32 ? 8 : 7}},
                             {"ROWS", int64_t{16}},
                             {"PARALLEL_MIN", int64_t{100000}}};
    Recipe recipe = make_recipe(context, strategy, text, initial, recipes.lacks);
    if (!condition->empty()) recipe.condition = Expression::parse(*condition);
    recipes.recipes.push_back(std::move(recipe));
}

}  // namespace strop::playbook
