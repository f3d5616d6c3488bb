#include "playbook/vector_code.h"

#include <vector>

#include <fmt/format.h>

namespace strop::playbook {

namespace {

struct Helper {
    std::string name;
    std::vector<std::string> needs;
    std::string text;
};

// Over the lanes of one vector, in halves.
Helper horizontal_fold(const std::string& name, const std::string& fold, const std::string& note) {
    return {name,
            {fold, "rotate"},
            fmt::format(R"(
// Horizontal; {2}.
static inline float {0}(vec v) {{
#pragma GCC unroll 8
    for (int width = VL / 2; width > 0; width /= 2) v = {1}(v, rotate(v, width));
    return v[0];
}}
)",
                        name, fold, note)};
}

// In the order in which they are written out; a helper only needs those above it.
const std::vector<Helper>& helpers() {
    static const std::vector<Helper> table = {
        {"load", {}, R"(
static inline vec load(const float* p) { return *(const vec_unaligned*)p; }
)"},
        {"store", {}, R"(
static inline void store(float* p, vec v) { *(vec_unaligned*)p = v; }
)"},
        {"load_tail", {"load"}, R"(
// The first n of VL lanes; the others are 0. Copies of fixed size need no call and no loop over lanes.
static inline vec load_tail(const float* p, int64_t n) {
    float lanes[VL] = {};
    int64_t done = 0;
#pragma GCC unroll 8
    for (int width = VL; width > 0; width /= 2)
        if (n & width) {
            __builtin_memcpy(lanes + done, p + done, sizeof(float) * width);
            done += width;
        }
    return load(lanes);
}
)"},
        {"load_end", {"load_tail"}, R"(
// The n elements before `end`, n < VL; the other lanes are 0. Where there is room for a whole vector they are its last
// lanes, else the first.
static inline vec load_end(const float* end, int64_t n, bool room) {
    if (!room) return load_tail(end - n, n);
    vmask lane;
#pragma GCC unroll 64
    for (int i = 0; i < VL; ++i) lane[i] = i;
    return lane >= (int32_t)(VL - n) ? load(end - VL) : vec{};
}
)"},
        {"store_tail", {"store"}, R"(
static inline void store_tail(float* p, vec v, int64_t n) {
    float lanes[VL];
    store(lanes, v);
    int64_t done = 0;
#pragma GCC unroll 8
    for (int width = VL; width > 0; width /= 2)
        if (n & width) {
            __builtin_memcpy(p + done, lanes + done, sizeof(float) * width);
            done += width;
        }
}
)"},
        {"stream", {}, R"(
// Past the caches; p is aligned to the vector.
static inline void stream(float* p, vec v) {
#if __has_builtin(__builtin_nontemporal_store)
    __builtin_nontemporal_store(v, (vec*)p);
#else
    *(vec*)p = v;
#endif
}
)"},
        {"fence", {}, R"(
// Streamed stores become visible to other threads before what follows.
static inline void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
)"},
        {"load_mask", {}, R"(
static inline vmask load_mask(const bool* p) {
    vmask m;
    for (int i = 0; i < VL; ++i) m[i] = -(int32_t)p[i];
    return m;
}
)"},
        {"load_mask_tail", {}, R"(
static inline vmask load_mask_tail(const bool* p, int64_t n) {
    vmask m = {};
    for (int64_t i = 0; i < n; ++i) m[i] = -(int32_t)p[i];
    return m;
}
)"},
        {"store_mask", {}, R"(
static inline void store_mask(bool* p, vmask m) {
    for (int i = 0; i < VL; ++i) p[i] = m[i] != 0;
}
)"},
        {"store_mask_tail", {}, R"(
static inline void store_mask_tail(bool* p, vmask m, int64_t n) {
    for (int64_t i = 0; i < n; ++i) p[i] = m[i] != 0;
}
)"},
        {"splat", {}, R"(
static inline vec splat(float s) { return s - vec{}; }
)"},
        {"splat_mask", {}, R"(
static inline vmask splat_mask(bool b) { return vmask{} - (int32_t)b; }
)"},
        {"select", {}, R"(
static inline vec select(vmask m, vec a, vec b) { return m ? a : b; }
static inline float select(bool m, float a, float b) { return m ? a : b; }
)"},
        {"fma", {}, R"(
static inline vec fma(vec a, vec b, vec c) { return a * b + c; }
)"},
        {"rounded_product", {}, R"(
// a * b for what the largest of these products is subtracted from: a multiply-add would keep the digits that the largest
// one has lost, so the compiler must not know that this changes nothing.
static volatile int32_t no_bits = 0;
static inline vec rounded_product(vec a, vec b) { return (vec)((vmask)(a * b) | (int32_t)no_bits); }
static inline float rounded_product(float a, float b) {
    return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, a * b) | no_bits);
}
)"},
        {"vmax", {"select"}, R"(
// NaN in either operand gives NaN, as in NumPy.
static inline vec vmax(vec a, vec b) { return select(a != a, a, select(a > b, a, b)); }
static inline float vmax(float a, float b) { return a > b || a != a ? a : b; }
)"},
        {"vmax_number", {"select"}, R"(
// NaN may be lost: for where it is found otherwise.
static inline vec vmax_number(vec a, vec b) { return select(a > b, a, b); }
static inline float vmax_number(float a, float b) { return a > b ? a : b; }
)"},
        {"vmin", {"select"}, R"(
// NaN in either operand gives NaN, as in NumPy.
static inline vec vmin(vec a, vec b) { return select(a != a, a, select(a < b, a, b)); }
static inline float vmin(float a, float b) { return a < b || a != a ? a : b; }
)"},
        {"vabs", {}, R"(
static inline vec vabs(vec v) { return (vec)((vmask)v & 0x7fffffff); }
static inline float vabs(float s) { return __builtin_fabsf(s); }
)"},
        {"vsqrt", {}, R"(
static inline vec vsqrt(vec v) {
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(v);
#else
    for (int i = 0; i < VL; ++i) v[i] = __builtin_sqrtf(v[i]);
    return v;
#endif
}
static inline float vsqrt(float s) { return __builtin_sqrtf(s); }
)"},
        {"vfloor", {}, R"(
static inline vec vfloor(vec v) {
#if __has_builtin(__builtin_elementwise_floor)
    return __builtin_elementwise_floor(v);
#else
    for (int i = 0; i < VL; ++i) v[i] = __builtin_floorf(v[i]);
    return v;
#endif
}
static inline float vfloor(float s) { return __builtin_floorf(s); }
)"},
        {"vround", {}, R"(
// To the nearest whole number, halves to even.
static inline vec vround(vec v) {
#if __has_builtin(__builtin_elementwise_roundeven)
    return __builtin_elementwise_roundeven(v);
#else
    for (int i = 0; i < VL; ++i) v[i] = __builtin_nearbyintf(v[i]);
    return v;
#endif
}
static inline float vround(float s) { return __builtin_nearbyintf(s); }
)"},
        {"vsign", {"select", "splat"}, R"(
static inline vec vsign(vec v) {
    return select(v > 0.0f, splat(1.0f), select(v < 0.0f, splat(-1.0f), v + 0.0f));
}
static inline float vsign(float s) { return s > 0.0f ? 1.0f : s < 0.0f ? -1.0f : s + 0.0f; }
)"},
        {"rotate", {}, R"(
// Lane i gets lane i + width, around the end: with a constant width one or two shuffles.
static inline vec rotate(vec v, int width) {
    vec r;
#pragma GCC unroll 64
    for (int i = 0; i < VL; ++i) r[i] = v[(i + width) % VL];
    return r;
}
)"},
        {"turn", {}, R"(
using Lanes = std::make_integer_sequence<int, VL>;

// Blocks of `width` lanes change places across the diagonal.
template <int width, int... i>
static inline void exchange(vec& a, vec& b, std::integer_sequence<int, i...>) {
    const vec low = __builtin_shufflevector(a, b, (i & width ? VL + i - width : i)...);
    b = __builtin_shufflevector(a, b, (i & width ? VL + i : i + width)...);
    a = low;
}

// The 4 x 4 blocks of four rows, each turned in its place.
template <int... i>
static inline void turn_blocks(vec* row, std::integer_sequence<int, i...>) {
    vec pair[4];  // a0 b0 a1 b1, a2 b2 a3 b3
    for (int half = 0; half < 4; half += 2) {
        const vec a = row[half], b = row[half + 1];
        pair[half] = __builtin_shufflevector(a, b, (i - i % 4 + i % 4 / 2 + i % 2 * VL)...);
        pair[half + 1] = __builtin_shufflevector(a, b, (i - i % 4 + i % 4 / 2 + i % 2 * VL + 2)...);
    }
    for (int half = 0; half < 2; ++half) {
        const vec ab = pair[half], cd = pair[half + 2];
        row[2 * half] = __builtin_shufflevector(ab, cd, (i - i % 4 + i % 2 + (i & 2 ? VL : 0))...);
        row[2 * half + 1] = __builtin_shufflevector(ab, cd, (i - i % 4 + i % 2 + (i & 2 ? VL : 0) + 2)...);
    }
}

template <int width>
static inline void exchange_blocks(vec* rows) {
    for (int i = 0; i < VL; ++i)
        if (!(i & width)) exchange<width>(rows[i], rows[i + width], Lanes{});
    if constexpr (2 * width < VL) exchange_blocks<2 * width>(rows);
}

// Lane i of row j becomes lane j of row i.
static inline void turn(vec* rows) {
    for (int i = 0; i < VL; i += 4) turn_blocks(rows + i, Lanes{});
    if constexpr (VL > 4) exchange_blocks<4>(rows);
}
)"},
        {"to_lanes", {"load", "load_tail", "store", "turn"}, R"(
// to[i * step + lane] = from[lane * apart + i] for i < count; 0 in the lanes from `lanes` on. A row's last vector may read
// into the row behind it.
static void to_lanes(const float* from, int64_t apart, int64_t lanes, int64_t count, float* to, int64_t step) {
    for (int64_t i = 0; i < count; i += VL) {
        const int64_t here = count - i < VL ? count - i : VL;
        const int64_t whole = here == VL ? lanes : i + VL <= apart + count ? lanes - 1 : 0;
        vec rows[VL];
#pragma GCC unroll 64
        for (int lane = 0; lane < VL; ++lane) {
            const float* row = from + lane * apart + i;
            rows[lane] = lane < whole ? load(row) : lane < lanes ? load_tail(row, here) : vec{};
        }
        turn(rows);
#pragma GCC unroll 64
        for (int j = 0; j < VL; ++j)
            if (j < here) store(to + (i + j) * step, rows[j]);
    }
}
)"},
        {"sum", {"rotate"}, R"(
// Horizontal, pairwise.
static inline float sum(vec v) {
#pragma GCC unroll 8
    for (int width = VL / 2; width > 0; width /= 2) v = v + rotate(v, width);
    return v[0];
}
)"},
        horizontal_fold("maximum", "vmax", "NaN in any lane gives NaN"),
        horizontal_fold("maximum_number", "vmax_number", "NaN may be lost"),
        horizontal_fold("minimum", "vmin", "NaN in any lane gives NaN"),
        {"twice_exp", {"splat", "fma"}, R"(
// 2 exp(r) for |r| <= ln(2) / 2, a minimax polynomial.
static inline vec twice_exp(vec r) {
    vec p = fma(r, splat(2 * 1.381453999e-3f), splat(2 * 8.368745116e-3f));
    p = fma(p, r, splat(2 * 4.166839079e-2f));
    p = fma(p, r, splat(2 * 1.66665204e-1f));
    p = fma(p, r, splat(2 * 4.999999343e-1f));
    p = fma(p, r, splat(2.0f));
    return fma(p, r, splat(2.0f));
}
)"},
        {"vexp", {"select", "splat", "fma", "twice_exp"}, R"(
// exp within 1.1 ulp; results below 2.4e-38 are 0. x = n ln 2 + r, exp(r) times 2^n; adding 1.5 * 2^23 rounds to a
// whole number and leaves n + 126 in the low bits, ready to become an exponent. With twice exp(r), n = -126 gives a
// scale of 0 and n = 128 overflows only where it should.
static inline vec vexp(vec x) {
    x = select(splat(89.0f) < x, splat(89.0f), x);
    x = select(splat(-87.4f) > x, splat(-87.4f), x);
    vec shifted = fma(x, splat(1.44269504f), splat(12583038.0f));
    vec n = shifted - 12583038.0f;
    vec r = fma(n, splat(-0.693359375f), x);
    r = fma(n, splat(2.12194440e-4f), r);
    return twice_exp(r) * (vec)((vmask)shifted << 23);
}
static inline float vexp(float s) { return vexp(splat(s))[0]; }
)"},
        {"vexp_nonpositive", {"select", "splat", "fma", "twice_exp"}, R"(
// exp of what is not positive, as vexp without its upper bound and with ln 2 in one piece, for a multiply-add rounds
// once: within 1.3 ulp down to -10, 5 ulp where the result is below 1e-17.
static inline vec vexp_nonpositive(vec x) {
    x = select(splat(-87.4f) > x, splat(-87.4f), x);
    vec shifted = fma(x, splat(1.44269504f), splat(12583038.0f));
    vec r = fma(shifted - 12583038.0f, splat(-0.693147182f), x);
    return twice_exp(r) * (vec)((vmask)shifted << 23);
}
static inline float vexp_nonpositive(float s) { return vexp_nonpositive(splat(s))[0]; }
)"},
        {"vexp2", {"select", "splat", "fma", "twice_exp"}, R"(
// 2^x within 1.3 ulp; results below 2.4e-38 are 0. As vexp, with r = (x - n) ln 2.
static inline vec vexp2(vec x) {
    x = select(splat(129.0f) < x, splat(129.0f), x);
    x = select(splat(-126.1f) > x, splat(-126.1f), x);
    vec shifted = x + 12583038.0f;
    vec r = (x - (shifted - 12583038.0f)) * 0.693147181f;
    return twice_exp(r) * (vec)((vmask)shifted << 23);
}
static inline float vexp2(float s) { return vexp2(splat(s))[0]; }
)"},
        {"vexpm1", {"select", "splat", "fma"}, R"(
// exp(x) - 1 within 2 ulp: 2^n (exp(r) - 1) + (2^n - 1), without cancellation at small x.
static inline vec vexpm1(vec x) {
    x = select(splat(89.0f) < x, splat(89.0f), x);
    x = select(splat(-80.0f) > x, splat(-80.0f), x);
    vec shifted = fma(x, splat(1.44269504f), splat(12583038.0f));
    vec n = shifted - 12583038.0f;
    vec r = fma(n, splat(-0.693359375f), x);
    r = fma(n, splat(2.12194440e-4f), r);
    vec p = fma(r, splat(1.9875691500e-4f), splat(1.3981999507e-3f));
    p = fma(p, r, splat(8.3334519073e-3f));
    p = fma(p, r, splat(4.1665795894e-2f));
    p = fma(p, r, splat(1.6666665459e-1f));
    p = fma(p, r, splat(5.0000001201e-1f));
    p = fma(p, r * r, r);
    vec half_scale = (vec)((vmask)shifted << 23);  // 2^(n-1): 2^128 would not fit
    return 2.0f * fma(p, half_scale, half_scale - 0.5f);
}
static inline float vexpm1(float s) { return vexpm1(splat(s))[0]; }
)"},
        {"vlog", {"select", "splat", "fma"}, R"(
// log within 1.1 ulp. x = m 2^e, m in [2/3, 4/3), polynomial in m - 1 (N. Juffa); tiny x is scaled.
static inline vec vlog(vec x) {
    vmask tiny = (vmask)(x < 1.17549435e-38f);
    vec scaled = select(tiny, x * 8388608.0f, x);
    vmask exponent = ((vmask)scaled - 0x3f2aaaab) & (int32_t)0xff800000;
    vec f = (vec)((vmask)scaled - exponent) - 1.0f;
    vec e = __builtin_convertvector(exponent, vec) * 1.19209290e-7f - select(tiny, splat(23.0f), splat(0.0f));
    vec s = f * f;
    vec even = fma(splat(-0.130310059f), s, splat(-0.121483512f));
    vec odd = fma(splat(0.140869141f), s, splat(0.139814854f));
    even = fma(even, s, splat(-0.166846126f));
    odd = fma(odd, s, splat(0.200120345f));
    even = fma(even, s, splat(-0.249996200f));
    vec p = fma(fma(odd, f, even), f, splat(0.333331972f));
    p = fma(fma(p, f, splat(-0.5f)), s, f);
    vec result = fma(e, splat(0.693147182f), p);
    result = select(x < __builtin_inff(), result, x);                     // inf and NaN stay
    result = select(x == 0.0f, splat(-__builtin_inff()), result);
    return select(x < 0.0f, splat(__builtin_nanf("")), result);
}
static inline float vlog(float s) { return vlog(splat(s))[0]; }
)"},
        {"vlog1p", {"vlog"}, R"(
// log(1 + x) within 2 ulp: what rounding 1 + x lost comes back as a first-order correction.
static inline vec vlog1p(vec x) {
    vec u = x + 1.0f;
    vec correction = (x - (u - 1.0f)) / u;
    vec finite = select(u < __builtin_inff(), correction, vec{});
    return vlog(u) + select(u > 0.0f, finite, vec{});
}
static inline float vlog1p(float s) { return vlog1p(splat(s))[0]; }
)"},
        {"vtanh", {"select", "splat", "fma", "vabs", "vexpm1"}, R"(
// tanh within 3 ulp: expm1(2x) / (expm1(2x) + 2).
static inline vec vtanh(vec x) {
    vec t = vexpm1(2.0f * select(vabs(x) > 10.0f, select(x > 0.0f, splat(10.0f), splat(-10.0f)), x));
    return t / (t + 2.0f);
}
static inline float vtanh(float s) { return vtanh(splat(s))[0]; }
)"},
        {"verf", {"select", "splat", "fma", "vabs", "vexp"}, R"(
// erf within 2 ulp: an odd polynomial up to 1, beyond it 1 - exp(polynomial), as log(erfc) is smooth.
static inline vec verf(vec x) {
    vec s = x * x;
    vec inner = fma(splat(7.853858e-05f), s, splat(-8.010193e-04f));
    inner = fma(inner, s, splat(5.1883277e-03f));
    inner = fma(inner, s, splat(-2.6853813e-02f));
    inner = fma(inner, s, splat(1.12835854e-01f));
    inner = fma(inner, s, splat(-3.7612626e-01f));
    inner = fma(inner, s, splat(1.2837916e-01f));
    inner = fma(inner, x, x);
    vec magnitude = vabs(x);
    vec a = select(magnitude < 4.0f, magnitude, splat(4.0f));
    vec outer = fma(splat(1.9718289e-04f), a, splat(-3.0556184e-03f));
    outer = fma(outer, a, splat(2.2277128e-02f));
    outer = fma(outer, a, splat(-1.0403744e-01f));
    outer = fma(outer, a, splat(-6.370597e-01f));
    outer = fma(outer, a, splat(-1.1277496f));
    outer = fma(outer, a, splat(-1.7748382e-04f));
    outer = 1.0f - vexp(outer);
    outer = select(x < 0.0f, -outer, outer);
    return select(magnitude > 1.0f, outer, inner);
}
static inline float verf(float s) { return verf(splat(s))[0]; }
)"},
        {"vatan", {"select", "splat", "fma", "vabs"}, R"(
// atan within 3 ulp: beyond tan(pi/8) of t = (|x| - 1) / (|x| + 1), beyond tan(3 pi/8) of -1 / |x| (S. Moshier's Cephes).
static inline vec vatan(vec x) {
    vec magnitude = vabs(x);
    vec t = select(magnitude > 0.414213562f, (magnitude - 1.0f) / (magnitude + 1.0f), magnitude);
    vec base = select(magnitude > 0.414213562f, splat(0.785398163f), vec{});
    t = select(magnitude > 2.41421356f, -1.0f / magnitude, t);
    base = select(magnitude > 2.41421356f, splat(1.57079633f), base);
    vec s = t * t;
    vec p = fma(splat(8.05374449538e-2f), s, splat(-1.38776856032e-1f));
    p = fma(p, s, splat(1.99777106478e-1f));
    p = fma(p, s, splat(-3.33329491539e-1f));
    vec result = base + fma(p * s, t, t);
    return select(x < 0.0f, -result, result);
}
static inline float vatan(float s) { return vatan(splat(s))[0]; }
)"},
        {"vsigmoid", {"vexp"}, R"(
// 1 / (1 + exp(-x)) within 4 ulp.
static inline vec vsigmoid(vec x) { return 1.0f / (1.0f + vexp(-x)); }
static inline float vsigmoid(float s) { return vsigmoid(splat(s))[0]; }
)"},
        {"vsincos", {}, R"(
// sin (quarter = 0) or cos (quarter = 1) within 2 ulp: reduced in double precision, which holds to a million turns.
static inline vec vsincos(vec x, int quarter) {
    typedef double wide __attribute__((vector_size(8 * VL)));
    typedef int64_t wide_bits __attribute__((vector_size(8 * VL)));
    wide angle = __builtin_convertvector(x, wide);
    wide shifted = angle * 0.63661977236758134 + 6755399441055744.0;
    wide n = shifted - 6755399441055744.0;
    vec r = __builtin_convertvector((angle - n * 1.5707963267948966) - n * 6.123233995736766e-17, vec);
    vmask quadrant = __builtin_convertvector((wide_bits)shifted & 3, vmask) + quarter;
    vec s = r * r;
    vec sine = ((-1.9515295891e-4f * s + 8.3321608736e-3f) * s - 1.6666654611e-1f) * s * r + r;
    vec cosine = ((2.443315711809948e-5f * s - 1.388731625493765e-3f) * s + 4.166664568298827e-2f) * s * s
                 - 0.5f * s + 1.0f;
    vec result = (quadrant & 1) != 0 ? cosine : sine;
    result = (quadrant & 2) != 0 ? -result : result;
    int32_t far = 0;
    for (int i = 0; i < VL; ++i) far |= x[i] > 6e6f || x[i] < -6e6f;
    for (int i = 0; far && i < VL; ++i) result[i] = quarter ? __builtin_cosf(x[i]) : __builtin_sinf(x[i]);
    return result;
}
)"},
        {"vsin", {"vsincos"}, R"(
static inline vec vsin(vec x) { return vsincos(x, 0); }
static inline float vsin(float s) { return vsin(vec{} + s)[0]; }
)"},
        {"vcos", {"vsincos"}, R"(
static inline vec vcos(vec x) { return vsincos(x, 1); }
static inline float vcos(float s) { return vcos(vec{} + s)[0]; }
)"},
        {"vpow", {"select", "splat", "vfloor", "vabs"}, R"(
// a^b within 1 ulp, special cases as in C: 2^(b log2 |a|) in double precision.
static inline vec vpow(vec a, vec b) {
    typedef double wide __attribute__((vector_size(8 * VL)));
    typedef int64_t wide_bits __attribute__((vector_size(8 * VL)));
    vec magnitude = vabs(a);
    wide m = __builtin_convertvector(magnitude, wide);
    wide_bits exponent = ((wide_bits)m - 0x3fe6a09e667f3bcd) >> 52;  // m in [sqrt(1/2), sqrt(2))
    m = (wide)((wide_bits)m - (exponent << 52));
    wide s = (m - 1.0) / (m + 1.0), z = s * s;
    wide p = ((((((z / 13 + 1.0 / 11) * z + 1.0 / 9) * z + 1.0 / 7) * z + 0.2) * z + 1.0 / 3) * z + 1.0) * s;
    wide log2_a = __builtin_convertvector(exponent, wide) + p * 2.8853900817779268;
    wide wide_a = __builtin_convertvector(magnitude, wide);
    log2_a = wide_a == 0.0 ? wide{} - __builtin_inf() : wide_a < __builtin_inf() ? log2_a : wide_a;
    wide y = __builtin_convertvector(b, wide) * log2_a;
    y = y > 200.0 ? wide{} + 200.0 : y < -200.0 ? wide{} - 200.0 : y;
    wide shifted = y + 6755399441055744.0;
    wide r = (y - (shifted - 6755399441055744.0)) * 0.69314718055994531;
    wide q = (((r / 362880 + 1.0 / 40320) * r + 1.0 / 5040) * r + 1.0 / 720) * r + 1.0 / 120;
    q = ((((q * r + 1.0 / 24) * r + 1.0 / 6) * r + 0.5) * r + 1.0) * r + 1.0;
    q = (wide)((wide_bits)q + ((wide_bits)shifted << 52));
    vec result = __builtin_convertvector(y == y ? q : y, vec);
    result = select(magnitude == 1.0f, splat(1.0f), result);
    vmask whole = (vmask)(vfloor(b) == b), odd = whole & (vmask)(vfloor(b * 0.5f) != b * 0.5f);
    result = (odd & (vmask)a) < 0 ? -result : result;
    result = select(((vmask)(a < 0.0f) & (vmask)(magnitude < __builtin_inff()) & ~whole) != 0,
                    splat(__builtin_nanf("")), result);
    return select(((vmask)(b == 0.0f) | (vmask)(a == 1.0f)) != 0, splat(1.0f), result);
}
static inline float vpow(float a, float b) { return vpow(splat(a), splat(b))[0]; }
)"},
    };
    return table;
}

}  // namespace

std::string vector_helper(const std::string& name) {
    for (const Helper& helper : helpers())
        if (helper.name == name) return helper.text;
    return {};
}

std::set<std::string> vector_closure(const std::set<std::string>& used) {
    std::set<std::string> all = used;
    const std::vector<Helper>& table = helpers();
    for (size_t i = table.size(); i-- > 0;)
        if (all.contains(table[i].name)) all.insert(table[i].needs.begin(), table[i].needs.end());
    return all;
}

std::string vector_prelude(const std::set<std::string>& used) {
    std::set<std::string> all = vector_closure(used);
    const std::string more = all.contains("turn") ? "#include <utility>\n" : "";
    std::string text =
        "#include <stdint.h>\n" + more +
        "\n"
        "// Vectors wider than a register are split by the compiler; none crosses the border of this file.\n"
        "#pragma GCC diagnostic ignored \"-Wpsabi\"\n\n"
        "typedef float vec __attribute__((vector_size(4 * VL)));\n"
        "typedef float vec_unaligned __attribute__((vector_size(4 * VL), aligned(4), may_alias));\n"
        "typedef int32_t vmask __attribute__((vector_size(4 * VL)));  // 0 or -1 in each lane\n";
    for (const Helper& helper : helpers())
        if (all.contains(helper.name)) text += helper.text;
    return text;
}

std::string vector_lengths(int vector_bytes) {
    int lanes = vector_bytes >= 64 ? 16 : vector_bytes >= 32 ? 8 : 4;
    return std::to_string(lanes) + " | " + std::to_string(2 * lanes);
}

std::string scratch_helper(bool several_uses) {
    const std::string several =
        several_uses ? " USE tells apart what is held at one time.\ntemplate <int USE = 0>" : "";
    return R"(
// Memory that a thread keeps from call to call.)" +
           several + R"(
// Not inlined: clang lets values stay in the upper vector registers of AVX-512 while a thread-local variable is looked up,
// and the lookup may change them.
__attribute__((noinline)) static float* scratch(int64_t count) {
    struct Block {
        float* data = nullptr;
        int64_t count = 0;
        ~Block() { free(data); }
    };
    static thread_local Block block;
    if (block.count < count) {
        free(block.data);
        block.count = (count + 1023) / 1024 * 1024;
        block.data = (float*)aligned_alloc(4096, sizeof(float) * block.count);
    }
    return block.data;
}
)";
}

}  // namespace strop::playbook
