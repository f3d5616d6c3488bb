// Direct convolution with filters in the vector lanes: channel-blocked weights, scalar pixels.
#include <limits>

#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/convolution_strategies.h"

namespace strop::playbook {

namespace {

const char* const body_text = R"(
// Planes of x with their zero border; x itself when there is none.
struct Padded {
    const float* x;
    int64_t pitch, plane, channel;
};

// The register tile: PX pixels times MR filters, added up over channels and taps. Pixels are `step` floats apart, or each
// has a pointer of its own (0), so any stride and any piece of the output makes a full tile.
template <int64_t step>
static inline void multiply(const float* const* pixels, int64_t channel, const int64_t* shift, int64_t taps,
                            int64_t channels, const float* w, float* sums, bool first) {
    const float* pixel[PX];
    vec sum[PX][KV];
    for (int j = 0; j < PX; ++j) {
        pixel[j] = pixels[j];
        for (int v = 0; v < KV; ++v) sum[j][v] = first ? vec{} : load(sums + j * MR + v * VL);
    }
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t tap = 0; tap < taps; ++tap, w += MR) {
            const int64_t at = c * channel + shift[tap];@PREFETCH@
            vec weights[KV];
            for (int v = 0; v < KV; ++v) weights[v] = load(w + v * VL);
            const float* from = pixel[0] + at;
            for (int j = 0; j < PX; ++j)
                for (int v = 0; v < KV; ++v) sum[j][v] += splat(step ? from[j * step] : pixel[j][at]) * weights[v];
        }
    for (int j = 0; j < PX; ++j)
        for (int v = 0; v < KV; ++v) store(sums + j * MR + v * VL, sum[j][v]);
}

// Filters [first, last) (counted in panels) of group g at `count` pixels of image n. The sums lie with
// filters side by side and are turned round when they are complete.
static void convolve_block(const Shape& s, const Operands& t, const Padded& padded, const float* packed,
                           const int64_t* shift, int64_t n, int64_t g, int64_t begin, int64_t count,
                           int64_t first, int64_t last) {
    const int64_t most = ceildiv(TILES * PX, VL) * VL;  // pixels
    float* sums = scratch<float, 0>((MR + VL) * most);
    float* rows = sums + MR * most;
    const int64_t channels = s.C / s.groups, filters = s.K / s.groups, taps = s.taps();
    const int64_t blocks = larger(1, ceildiv(channels * taps, DEPTH)),
                  block = larger(1, ceildiv(channels, blocks));
    const float* x = padded.x + (n * s.C + g * channels) * padded.channel;
    const float* pixels[TILES * PX];
    for (int64_t j = 0; j < TILES * PX; ++j) {
        const int64_t pixel = begin + smaller(j, count - 1);  // lanes past the end repeat the last pixel
        pixels[j] = x + pixel / s.Q / s.P * s.stride_d * padded.plane + pixel / s.Q % s.P * s.stride_h * padded.pitch +
                    pixel % s.Q * s.stride_w;
    }
    for (int64_t panel = first; panel < last; ++panel) {
        const float* w = packed + (g * ceildiv(filters, MR) + panel) * channels * taps * MR;
        for (int64_t c = 0; c == 0 || c < channels; c += block)
            for (int64_t j = 0; j < count; j += PX) {
                const float* moved[PX];
                for (int i = 0; i < PX; ++i) moved[i] = pixels[j + i] + c * padded.channel;
                // Neighbours of one row need one pointer, which leaves the others their registers.
                const bool in_row = (begin + j) % s.Q + PX <= s.Q && j + PX <= count;
                const int64_t step = in_row ? s.stride_w : 0;
                const auto tile = step == 1 ? multiply<1> : step == 2 ? multiply<2> : multiply<0>;
                tile(moved, padded.channel, shift, taps, smaller(block, channels - c), w + c * taps * MR,
                     sums + j * MR, c == 0);
            }
        for (int64_t k = panel * MR; k < smaller((panel + 1) * MR, filters); k += VL) {
            for (int64_t j = 0; j < count; j += VL) {
                vec tile[VL];
                for (int i = 0; i < VL; ++i) tile[i] = load(sums + (j + i) * MR + k - panel * MR);
                turn(tile);
                for (int i = 0; i < VL; ++i) store(rows + i * most + j, tile[i]);
            }
            for (int64_t i = 0; i < smaller(VL, filters - k); ++i)
                finish(s, t, n, g * filters + k + i, begin, rows + i * most, count);
        }
    }
}

static void convolve(const Shape& s, const Operands& t) {
    const int64_t panels = ceildiv(s.K / s.groups, MR);
    const bool in_place = s.padding_d == 0 && s.padding_h == 0 && s.padding_w == 0;
    const int64_t depth = s.D + 2 * s.padding_d, rows = s.H + 2 * s.padding_h, pitch = s.W + 2 * s.padding_w;
    const int64_t plane = rows * pitch;
    float* copy = in_place ? nullptr : scratch<float, 1>(s.N * s.C * depth * plane);
    float* packed = scratch<float, 2>(s.groups * panels * (s.C / s.groups) * s.taps() * MR);
    int64_t* shift = scratch<int64_t, 0>(s.taps());
    for (int64_t tap = 0; tap < s.taps(); ++tap)
        shift[tap] = tap / (s.R * s.S) * s.dilation_d * plane + tap / s.S % s.R * s.dilation_h * pitch +
                     tap % s.S * s.dilation_w;
    const Padded padded{in_place ? t.@X@ : copy, pitch, plane, depth * plane};

    const int64_t area = s.pixels(), blocks = ceildiv(area, TILES * PX), pixel_tasks = s.N * s.groups * blocks;
    // Few pixels: the filters are shared out too.
    const int64_t splits = larger(1, smaller(panels, MIN_TASKS / pixel_tasks)),
                  split = ceildiv(panels, splits);
    team::Queue tasks{pixel_tasks * splits, 1};
    team::parallel(s.threads(PARALLEL_MIN), [=, &tasks](team::Member me) {
        for (int64_t panel = me.begin(s.groups * panels); panel < me.end(s.groups * panels); ++panel)
            pack_weights(s, t.@W@, panel, packed);
        const int64_t planes = in_place ? 0 : s.N * s.C * depth;
        for (int64_t i = me.begin(planes); i < me.end(planes); ++i) {
            const int64_t d = i % depth - s.padding_d;
            const bool inside = d >= 0 && d < s.D;  // outside of the volume all rows are 0
            split_plane(t.@X@ + (i / depth * s.D + (inside ? d : 0)) * s.H * s.W, inside ? s.H : 0, s.W, s.padding_h,
                        s.padding_w, 1, 1, copy + i * plane, rows, pitch);
        }
        me.barrier();
        for (int64_t task, end; tasks.take(task, end);) {
            const int64_t place = task / splits, first = task % splits * split;
            const int64_t begin = place % blocks * TILES * PX;
            convolve_block(s, t, padded, packed, shift, place / blocks / s.groups, place / blocks % s.groups,
                           begin, smaller(TILES * PX, area - begin), first, smaller(panels, first + split));
        }
    });
}
)";

const char* const prefetch_text = R"(
            __builtin_prefetch(w + 8 * MR);)";

ConvolutionText filters_source(const ConvolutionContext& context, bool prefetch) {
    ConvolutionText text;
    text.planes = text.panels = true;
    text.helpers = {"turn"};
    text.head =
        "// Direct convolution with filters in the lanes: weights blocked by MR filters, pixels broadcast "
        "from\n"
        "// the padded image, the finished tile turned round into rows of pixels.\n";
    text.tunables = RegisterTile(context.machine).tunables("PX", "KV") +
                    "// DEPTH: channels × taps of one panel of weights, to stay in L1\n"
                    "// strop:late DEPTH = 288 | 144 | 576 | 1152\n"
                    "// strop:tune TILES = 16 | 8 | 32 | 4\n"
                    "// strop:late MIN_TASKS = 8 | 2 | 32\n"
                    "// strop:late PARALLEL_MIN = 300000 | 100000 | 1000000\n";
    text.constants = "constexpr int64_t MR = KV * VL;  // filters of a panel\n";
    text.body = replace_all(body_text, "@PREFETCH@", prefetch ? prefetch_text : "");
    text.body = replace_all(replace_all(text.body, "@X@", context.form.x), "@W@", context.form.w);
    return text;
}

// Many where that is not known.
int64_t filters_of_a_group(const ConvolutionForm& form) {
    const bool known = form.filters.is_literal() && form.groups.is_literal();
    return known ? form.filters.evaluate_integer({}) / form.groups.evaluate_integer({})
                 : std::numeric_limits<int64_t>::max();
}

}  // namespace

void add_filter_lanes(const ConvolutionContext& context, Recipes& recipes) {
    RegisterTile tile(context.machine);
    const bool narrow = filters_of_a_group(context.form) <= tile.lanes;  // a second vector would have empty lanes
    Configuration initial = {
        {"VL", tile.lanes},     {"PX", tile.tall()},       {"KV", int64_t{narrow ? 1 : 2}},  {"DEPTH", int64_t{288}},
        {"TILES", int64_t{16}}, {"MIN_TASKS", int64_t{8}}, {"PARALLEL_MIN", int64_t{300000}}};
    Strategy strategy;
    strategy.id = "filter_lanes";
    strategy.hypothesis =
        "Filters in the lanes make every tile full whatever the stride and the width: no position is "
        "computed in vain, and pixels are broadcast in place.";
    strategy.bottleneck = "compute";
    strategy.excludes = {"implicit_gemm", "shifted_planes", "winograd"};
    strategy.confidence = 0.6;
    Recipe recipe = make_recipe(context, strategy, filters_source(context, false), initial, recipes.lacks);
    Recipe variant = make_recipe(context, strategy, filters_source(context, true), initial, recipes.lacks);
    variant.suffix = "prefetch";
    recipe.variants.push_back(std::move(variant));
    recipes.recipes.push_back(std::move(recipe));
}

}  // namespace strop::playbook
