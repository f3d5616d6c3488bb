// Convolution as a sum of shifted planes. The zero border is written once an image; a stride splits every
// channel into phases (as a polyphase filter does), so that for every tap the pixels lie side by side and
// nothing is gathered or packed again.
#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/convolution_strategies.h"
#include "playbook/vector_code.h"

namespace strop::playbook {

namespace {

const char* const layout_text = R"(
// A padded channel has `depth` planes, each split into stride_h × stride_w phases of rows × pitch: whatever the stride,
// the input of neighbouring output pixels under one tap of the filter is contiguous, `shift` floats behind the pixel's
// position p * pitch + q. Positions with q >= Q are computed and dropped.
struct Planes {
    int64_t depth, phases_h, phases_w, rows, pitch, phase, plane, channel;
    explicit Planes(const Shape& s)
        : depth((s.Z - 1) * s.stride_d + (s.T - 1) * s.dilation_d + 1),
          phases_h(smaller(s.stride_h, (s.R - 1) * s.dilation_h + 1)),
          phases_w(smaller(s.stride_w, (s.S - 1) * s.dilation_w + 1)),
          rows(s.P + (s.R - 1) * s.dilation_h / s.stride_h),
          pitch(s.Q + (s.S - 1) * s.dilation_w / s.stride_w),
          phase(rows * pitch),
          plane(phases_h * phases_w * phase),
          channel(depth * plane) {}

    int64_t shift(const Shape& s, int64_t tap) const {
        const int64_t d = tap / (s.R * s.S) * s.dilation_d;
        const int64_t h = tap / s.S % s.R * s.dilation_h, w = tap % s.S * s.dilation_w;
        return d * plane + (h % s.stride_h * phases_w + w % s.stride_w) * phase + h / s.stride_h * pitch + w / s.stride_w;
    }

    bool is_inside(const Shape& s, int64_t d) const { return d >= s.padding_d && d < s.padding_d + s.D; }

    // Plane d of channel x; outside of the volume it is 0.
    void split(const Shape& s, const float* x, int64_t d, float* to, bool border = true) const {
        const int64_t H = is_inside(s, d) ? s.H : 0;
        if (H) x += (d - s.padding_d) * s.H * s.W;
        for (int64_t a = 0; a < phases_h; ++a)
            for (int64_t b = 0; b < phases_w; ++b, to += phase)
                split_plane(x, H, s.W, s.padding_h - a, s.padding_w - b, s.stride_h, s.stride_w, to, rows,
                            pitch, border);
    }
};
)";

const char* const multiply_text = R"(
constexpr int64_t NR = NRV * VL;
constexpr int64_t BLOCK = TILES * NR;  // positions whose sums are kept until they are complete

// The register tile: MR filters times NR positions, added up over channels and taps.
static inline void multiply(const float* plane, const Planes& planes, const int64_t* shift, int64_t taps,
                            int64_t channels, const float* w, float* sums, bool first) {
    vec sum[MR][NRV];
    for (int i = 0; i < MR; ++i)
        for (int j = 0; j < NRV; ++j) sum[i][j] = first ? vec{} : load(sums + i * BLOCK + j * VL);
    for (int64_t c = 0; c < channels; ++c, plane += planes.channel)
        for (int64_t tap = 0; tap < taps; ++tap, w += MR) {
            const float* from = plane + shift[tap];@PREFETCH@
            vec pixels[NRV];
            for (int j = 0; j < NRV; ++j) pixels[j] = load(from + j * VL);
            for (int i = 0; i < MR; ++i)
                for (int j = 0; j < NRV; ++j) sum[i][j] += splat(w[i]) * pixels[j];
        }
    for (int i = 0; i < MR; ++i)
        for (int j = 0; j < NRV; ++j) store(sums + i * BLOCK + j * VL, sum[i][j]);
}
)";

const char* const write_text = R"(
// Cuts `count` positions into pieces of output rows; the sums of a filter are BLOCK floats behind those of
// the one before.
static void write_block(const Shape& s, const Operands& t, int64_t n, int64_t z, int64_t k, int64_t filters,
                        int64_t position, int64_t count, int64_t pitch, const float* sums) {
    int64_t p = position / pitch, q = position % pitch;
    for (int64_t j = 0; j < count && p < s.P; j += pitch - q, q = 0, ++p) {
        const int64_t run = smaller(s.Q - q, count - j);
        for (int64_t i = 0; run > 0 && i < filters; ++i)
            finish(s, t, n, k + i, (z * s.P + p) * s.Q + q, sums + i * BLOCK + j, run);
    }
}
)";

const char* const convolve_text = R"(
// Everything that a thread needs to know of the packed operands.
struct Packed {
    Planes planes;
    const float* x;
    const float* w;
    const int64_t* shift;
};

// Filters [first, last) (counted in panels) of group g at the tiles [tile, end) of plane z of output n. A block of
// channels at a time:
// @ORDER_COMMENT@
static void convolve_block(const Shape& s, const Operands& t, const Packed& packed, int64_t n, int64_t z, int64_t g,
                           int64_t tile, int64_t end, int64_t first, int64_t last) {
    float* sums = scratch<float, 0>((last - first) * MR * BLOCK);
    const int64_t channels = s.C / s.groups, filters = s.K / s.groups, taps = s.taps();
    const int64_t blocks = larger(1, ceildiv(channels * taps, DEPTH)),
                  block = larger(1, ceildiv(channels, blocks));
    const Planes& planes = packed.planes;
    const float* plane = packed.x + (n * s.C + g * channels) * planes.channel + z * s.stride_d * planes.plane;
    const float* w = packed.w + g * ceildiv(filters, MR) * channels * taps * MR;
    for (int64_t c = 0; c == 0 || c < channels; c += block)
@ORDER@
                multiply(plane + c * planes.channel + i * NR, planes, packed.shift, taps,
                         smaller(block, channels - c), w + (panel * channels + c) * taps * MR,
                         sums + (panel - first) * MR * BLOCK + (i - tile) * NR, c == 0);
    for (int64_t panel = first; panel < last; ++panel)
        write_block(s, t, n, z, g * filters + panel * MR, smaller(MR, filters - panel * MR), tile * NR,
                    (end - tile) * NR, planes.pitch, sums + (panel - first) * MR * BLOCK);
}

static void convolve(const Shape& s, const Operands& t) {
    const Planes planes(s);
    const int64_t depth = s.C / s.groups * s.taps(), panels = ceildiv(s.K / s.groups, MR);
    // The last tile reads past the last plane.
    float* x = scratch<float, 1>(s.N * s.C * planes.channel + NR);
    float* w = scratch<float, 2>(s.groups * panels * depth * MR);
    int64_t* shift = scratch<int64_t, 0>(s.taps());
    for (int64_t tap = 0; tap < s.taps(); ++tap) shift[tap] = planes.shift(s, tap);
    for (int64_t j = 0; j < NR; ++j) x[s.N * s.C * planes.channel + j] = 0;
    const Packed packed{planes, x, w, shift};

    const int64_t tiles = ceildiv((s.P - 1) * planes.pitch + s.Q, NR), blocks = ceildiv(tiles, TILES);
    const int64_t pixel_tasks = s.N * s.Z * s.groups * blocks;
    // Few pixels: the filters are shared out too.
    const int64_t splits = larger(1, smaller(panels, MIN_TASKS / pixel_tasks)),
                  split = ceildiv(panels, splits);
    team::Queue tasks{pixel_tasks * splits, 1};
    team::parallel(s.threads(PARALLEL_MIN), [=, &tasks](team::Member me) {
        for (int64_t panel = me.begin(s.groups * panels); panel < me.end(s.groups * panels); ++panel)
            pack_weights(s, t.@W@, panel, w);
        const int64_t count = s.N * s.C * planes.depth;
        for (int64_t i = me.begin(count); i < me.end(count); ++i)
            planes.split(s, t.@X@ + i / planes.depth * s.D * s.H * s.W, i % planes.depth, x + i * planes.plane);
        me.barrier();
        for (int64_t task, end; tasks.take(task, end);) {
            const int64_t place = task / splits, first = task % splits * split, tile = place % blocks * TILES;
            const int64_t g = place / blocks % s.groups, plane = place / blocks / s.groups;
            convolve_block(s, t, packed, plane / s.Z, plane % s.Z, g, tile, smaller(tiles, tile + TILES), first,
                           smaller(panels, first + split));
        }
    });
}
)";

const char* const prefetch_text = R"(
            __builtin_prefetch(from + planes.channel);)";

const char* const tiles_outside = R"(        for (int64_t i = tile; i < end; ++i)
            for (int64_t panel = first; panel < last; ++panel))";
const char* const panels_outside = R"(        for (int64_t panel = first; panel < last; ++panel)
            for (int64_t i = tile; i < end; ++i))";

const char* const depthwise_multiply_text = R"(
constexpr int64_t NR = NRV * VL;
constexpr int64_t BLOCK = TILES * NR;  // positions whose sums are kept until they are complete

// One filter at NR positions; every tap is read once, and the pixels come from L1.
static inline void multiply(const float* plane, const int64_t* shift, int64_t taps, const float* w,
                            float* sums) {
    vec sum[NRV] = {};
    for (int64_t tap = 0; tap < taps; ++tap) {
        const float* from = plane + shift[tap];
        for (int j = 0; j < NRV; ++j) sum[j] += splat(w[tap]) * load(from + j * VL);
    }
    for (int j = 0; j < NRV; ++j) store(sums + j * VL, sum[j]);
}

// The inside of a plane whose border is 0, for a stride of 1: rows in whole vectors, of which the last ends in zeros, as
// the border does. The next row comes over what it leaves there. Nothing is read from `end` on.
static void copy_rows(const Shape& s, const Planes& planes, const float* x, const float* end, float* plane) {
    const int64_t whole = (s.W - 1) / VL * VL;
    vmask inside;
    for (int lane = 0; lane < VL; ++lane) inside[lane] = lane < s.W - whole ? -1 : 0;
    float* to = plane + s.padding_h * planes.pitch + s.padding_w;
    for (int64_t h = 0; h < s.H; ++h, x += s.W, to += planes.pitch) {
        for (int64_t w = 0; w < whole; w += VL) store(to + w, load(x + w));
        if (end - x < whole + VL)
            for (int64_t w = whole; w < s.W; ++w) to[w] = x[w];
        else store(to + whole, (vec)((vmask)load(x + whole) & inside));
    }
}

// Cuts `count` positions into pieces of output rows. Pieces are whole vectors where the plane of the result has room:
// what the last lanes leave in the next row is written over by that one.
static void write_rows(const Shape& s, const Operands& t, int64_t n, int64_t z, int64_t k, int64_t position,
                       int64_t count, int64_t pitch, const float* sums) {
    int64_t p = position / pitch, q = position % pitch;
    for (int64_t j = 0; j < count && p < s.P; j += pitch - q, q = 0, ++p) {
        const int64_t run = smaller(s.Q - q, count - j), pixel = (z * s.P + p) * s.Q + q;
        const int64_t room = smaller(s.pixels() - pixel, BLOCK - j);
        if (run > 0) finish(s, t, n, k, pixel, sums + j, smaller(ceildiv(run, VL) * VL, room));
    }
}
)";

const char* const depthwise_convolve_text = R"(
static void convolve(const Shape& s, const Operands& t) {
    const Planes planes(s);
    const int64_t filters = s.K / s.groups, taps = s.taps(), positions = (s.P - 1) * planes.pitch + s.Q;
    // Rows that lie in a plane as in the image, but for the border.
    const bool in_rows = s.stride_h == 1 && s.stride_w == 1 && planes.pitch >= s.W + s.padding_w &&
                         planes.rows >= s.H + s.padding_h;
    int64_t* shift = scratch<int64_t, 0>(taps);
    for (int64_t tap = 0; tap < taps; ++tap) shift[tap] = planes.shift(s, tap);
    team::parallel(s.threads(PARALLEL_MIN), [=](team::Member me) {
        // The last tile reads past the last phase. The border is the same for all channels.
        float* plane = scratch<float, 3>(planes.channel + NR + BLOCK);
        float* sums = plane + planes.channel + NR;
        for (int64_t j = 0; j < planes.channel + NR; ++j) plane[j] = 0;
        for (int64_t c = me.begin(s.N * s.C); c < me.end(s.N * s.C); ++c) {
            const int64_t area = s.H * s.W;
            const float* x = t.@X@ + c * s.D * area;
            const float* end = t.@X@ + s.N * s.C * s.D * area;
            for (int64_t d = 0; d < planes.depth; ++d) {
                float* to = plane + d * planes.plane;
                if (!planes.is_inside(s, d)) continue;
                if (in_rows) copy_rows(s, planes, x + (d - s.padding_d) * area, end, to);
                else planes.split(s, x, d, to, false);
            }
            for (int64_t task = c % s.C * filters * s.Z; task < (c % s.C + 1) * filters * s.Z; ++task)
                for (int64_t begin = 0; begin < positions; begin += BLOCK) {
                    const int64_t k = task / s.Z, z = task % s.Z, count = smaller(BLOCK, positions - begin);
                    const float* from = plane + z * s.stride_d * planes.plane + begin;
                    for (int64_t j = 0; j < count; j += NR) multiply(from + j, shift, taps, t.@W@ + k * taps, sums + j);
                    write_rows(s, t, c / s.C, z, k, begin, count, planes.pitch, sums);
                }
        }
    });
}
)";

std::string fill(std::string text, const ConvolutionForm& form) {
    return replace_all(replace_all(std::move(text), "@X@", form.x), "@W@", form.w);
}

ConvolutionText planes_source(const ConvolutionContext& context, bool weights_stay) {
    ConvolutionText text;
    text.planes = text.panels = true;
    text.head =
        "// Direct convolution over shifted planes: the image is padded once and split by the stride's "
        "phases;\n"
        "// a register tile of filters × pixels then reads it in place under every tap of the filter.\n";
    text.tunables = RegisterTile(context.machine).tunables("MR", "NRV") +
                    "// DEPTH: channels × taps of a block\n"
                    "// strop:late DEPTH = 288 | 144 | 576 | 1152\n"
                    "// strop:tune TILES = 8 | 2 | 4 | 16 | 32\n"
                    "// strop:late MIN_TASKS = 8 | 2 | 32\n"
                    "// strop:late PARALLEL_MIN = 300000 | 100000 | 1000000\n";
    std::string convolve = replace_all(convolve_text, "@ORDER@", weights_stay ? panels_outside : tiles_outside);
    convolve = replace_all(convolve, "@ORDER_COMMENT@",
                           weights_stay ? "a panel's weights stay in L1 while they pass over the tiles."
                                        : "a tile's pixels stay in L1 while all filters pass over them.");
    text.body =
        fill(std::string(layout_text) + replace_all(multiply_text, "@PREFETCH@", prefetch_text) + write_text + convolve,
             context.form);
    return text;
}

}  // namespace

void add_shifted_planes(const ConvolutionContext& context, Recipes& recipes) {
    RegisterTile tile(context.machine);
    Configuration initial = {{"VL", tile.lanes},
                             {"MR", tile.wide()},
                             {"NRV", int64_t{3}},
                             {"DEPTH", int64_t{288}},
                             {"TILES", int64_t{8}},
                             {"MIN_TASKS", int64_t{8}},
                             {"PARALLEL_MIN", int64_t{300000}}};
    Strategy strategy;
    strategy.id = "shifted_planes";
    strategy.hypothesis =
        "After one padded copy every tap reads contiguous pixels, so the register tile runs at the "
        "multiply-add rate without packing pixels for each tap.";
    strategy.bottleneck = "compute";
    strategy.excludes = {"implicit_gemm", "filter_lanes", "winograd"};
    strategy.confidence = 0.7;
    Recipe recipe = make_recipe(context, strategy, planes_source(context, false), initial, recipes.lacks);
    Recipe variant = make_recipe(context, strategy, planes_source(context, true), initial, recipes.lacks);
    variant.suffix = "weights_stay";
    recipe.variants.push_back(std::move(variant));
    recipes.recipes.push_back(std::move(recipe));
}

void add_depthwise(const ConvolutionContext& context, Recipes& recipes) {
    std::optional<std::string> condition = all_equal({{context.form.groups, context.form.channels}});
    if (!condition) return;
    RegisterTile tile(context.machine);
    ConvolutionText text;
    text.planes = true;
    text.head =
        "// Depthwise convolution: a filter sees one channel, which is padded into a buffer that stays in "
        "cache.\n";
    text.tunables = fmt::format(
        "// strop:tune VL = {}\n"
        "// strop:tune NRV = 4 | 8 | 2 | 6\n"
        "// strop:tune TILES = 16 | 4 | 64\n"
        "// strop:late PARALLEL_MIN = 100000 | 30000 | 300000\n",
        vector_lengths(context.machine.vector_bytes));
    text.body = fill(std::string(layout_text) + depthwise_multiply_text + depthwise_convolve_text, context.form);
    Strategy strategy;
    strategy.id = "depthwise";
    strategy.hypothesis =
        "With one channel a filter there is nothing to share between filters: padding into L1 and "
        "vectors of pixels leave only memory traffic.";
    strategy.bottleneck = "memory";
    strategy.excludes = {"implicit_gemm", "filter_lanes", "shifted_planes", "winograd"};
    strategy.confidence = 0.7;
    Configuration initial = {
        {"VL", tile.lanes}, {"NRV", int64_t{4}}, {"TILES", int64_t{16}}, {"PARALLEL_MIN", int64_t{100000}}};
    Recipe recipe = make_recipe(context, strategy, text, initial, recipes.lacks);
    if (!condition->empty()) recipe.condition = Expression::parse(*condition);
    recipes.recipes.push_back(std::move(recipe));
}

}  // namespace strop::playbook
