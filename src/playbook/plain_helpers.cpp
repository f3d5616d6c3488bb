// Functions that plain loops call.
#include <fmt/format.h>

#include "playbook/contraction_text.h"
#include "playbook/plain_loops.h"

namespace strop::playbook {

std::string plain_helpers(const std::set<std::string>& used) {
    static const char* const in_lanes = R"(
// In four times 16 lanes@NOTE@.
template <class To, class T> static inline To @OP@_in(const T* values, int64_t count) {
    typedef @LANE@ Lane;
    typedef Lane Lanes __attribute__((vector_size(16 * sizeof(Lane))));
    typedef T Values __attribute__((vector_size(16 * sizeof(T))));
    const auto fold = [](auto a, auto b) { return @FOLD@; };
    const auto load = [&](int64_t i) {
        Values read;
        __builtin_memcpy(&read, values + i, sizeof read);
        return __builtin_convertvector(read, Lanes);
    };
    To result = @START@;
    for (int64_t begin = 0, end; begin < count; begin = end) {
        end = count - begin < 4096 ? count : begin + 4096;
        Lanes lanes[4];
        for (Lanes& part : lanes) part = Lanes{} + (Lane)@START@;
        int64_t i = begin;
        for (; i + 64 <= end; i += 64)
            for (int part = 0; part < 4; ++part) lanes[part] = fold(lanes[part], load(i + 16 * part));
        for (; i + 16 <= end; i += 16) lanes[0] = fold(lanes[0], load(i));
        lanes[0] = fold(fold(lanes[0], lanes[1]), fold(lanes[2], lanes[3]));
#pragma GCC unroll 4
        for (int width = 8; width > 0; width /= 2)
            for (int lane = 0; lane < width; ++lane) lanes[0][lane] = fold(lanes[0][lane], lanes[0][lane + width]);
        result = fold(result, (To)lanes[0][0]);
        for (; i < end; ++i) result = fold(result, (To)values[i]);
    }
    return result;
}
)";
    auto lanes = [](const std::string& op) {
        const bool sum = op == "sum";
        const char* const own = "std::conditional_t<std::is_floating_point_v<T>, T, To>";
        return fill(
            in_lanes,
            {{"OP", op},
             {"NOTE", sum ? ", of floating-point numbers in their own type: a piece of 4096 rounds little" : ""},
             {"LANE", sum ? own : "To"},
             {"START", sum ? "0" : "values[0]"},
             {"FOLD", sum ? "a + b" : fmt::format("(a != a) | (a {} b) ? a : b", op == "max" ? ">" : "<")}});
    };
    std::set<std::string> needed = used;
    if (used.contains("tanh_of")) needed.insert("expm1_of");
    if (used.contains("floor_divide")) needed.insert("remainder_of");
    if (used.contains("erf_of")) needed.insert("exp_of");
    if (used.contains("sin_of") || used.contains("cos_of")) needed.insert("sincos_of");
    static const std::vector<std::pair<std::string, std::string>> texts = {{"max_of", R"(
// NaN where one of both is, as in NumPy.
template <class T> static inline T max_of(T a, T b) { return a != a || a > b ? a : b; }
)"},
                                                                           {"min_of", R"(
// NaN where one of both is, as in NumPy.
template <class T> static inline T min_of(T a, T b) { return a != a || a < b ? a : b; }
)"},
                                                                           {"sum_in", lanes("sum")},
                                                                           {"max_in", lanes("max")},
                                                                           {"min_in", lanes("min")},
                                                                           {"place_in", R"(
// The first place of `value`, or of a NaN.
template <class T> static inline int64_t place_in(T value, const T* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        if (values[i] == value || values[i] != values[i]) return i;
    return 0;
}
)"},
                                                                           {"exp_of", R"(
// exp within 1.1 ulp; results below 2.4e-38 are 0. x = n ln 2 + r; adding 1.5 * 2^23 rounds to a whole number and leaves
// n + 126 in the low bits, ready to become an exponent of twice exp(r), a minimax polynomial.
static inline float exp_of(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -87.4f ? -87.4f : x;
    const float shifted = x * 1.44269504f + 12583038.0f, n = shifted - 12583038.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = r * 2.762907998e-3f + 1.6737490232e-2f;
    p = p * r + 8.333678158e-2f;
    p = p * r + 3.33330442e-1f;
    p = p * r + 9.999998686e-1f;
    p = p * r + 2.0f;
    p = p * r + 2.0f;
    return p * __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, shifted) << 23);
}

// exp in double within 1.5 ulp, by Taylor's polynomial; results below 2.3e-308 are 0.
static inline double exp_of(double x) {
    x = x > 710.0 ? 710.0 : x;
    x = x < -708.4 ? -708.4 : x;
    const double shifted = x * 1.4426950408889634 + 6755399441056766.0, n = shifted - 6755399441056766.0;
    const double r = (x - n * 6.93147180369123816e-1) - n * 1.90821492927058770e-10;
    double p = 3.2118087673643227e-10;
    p = p * r + 4.17535139757362e-09;
    p = p * r + 5.010421677088344e-08;
    p = p * r + 5.511463844797178e-07;
    p = p * r + 5.5114638447971785e-06;
    p = p * r + 4.96031746031746e-05;
    p = p * r + 0.0003968253968253968;
    p = p * r + 0.002777777777777778;
    p = p * r + 0.016666666666666666;
    p = p * r + 0.08333333333333333;
    p = p * r + 0.3333333333333333;
    p = p * r + 1.0;
    p = p * r + 2.0;
    p = p * r + 2.0;
    return p * __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, shifted) << 52);
}
)"},
                                                                           {"expm1_of", R"(
// exp(x) - 1 within 2 ulp: 2^n (exp(r) - 1) + (2^n - 1), without cancellation at small x.
static inline float expm1_of(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -80.0f ? -80.0f : x;
    const float shifted = x * 1.44269504f + 12583038.0f, n = shifted - 12583038.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r;
    const float half_scale = __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, shifted) << 23);
    return 2.0f * (p * half_scale + (half_scale - 0.5f));
}

// exp(x) - 1 in double within 2.5 ulp, by Taylor's polynomial.
static inline double expm1_of(double x) {
    x = x > 710.0 ? 710.0 : x;
    x = x < -80.0 ? -80.0 : x;
    const double shifted = x * 1.4426950408889634 + 6755399441056766.0, n = shifted - 6755399441056766.0;
    const double r = (x - n * 6.93147180369123816e-1) - n * 1.90821492927058770e-10;
    double p = r * 1.6059043836821613e-10 + 2.08767569878681e-09;
    p = p * r + 2.505210838544172e-08;
    p = p * r + 2.755731922398589e-07;
    p = p * r + 2.7557319223985893e-06;
    p = p * r + 2.48015873015873e-05;
    p = p * r + 0.0001984126984126984;
    p = p * r + 0.001388888888888889;
    p = p * r + 0.008333333333333333;
    p = p * r + 0.041666666666666664;
    p = p * r + 0.16666666666666666;
    p = p * r + 0.5;
    p = p * (r * r) + r;
    const double half_scale = __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, shifted) << 52);
    return 2.0 * (p * half_scale + (half_scale - 0.5));
}
)"},
                                                                           {"log_of", R"(
// log within 1.1 ulp. x = m 2^e, m in [2/3, 4/3), polynomial in m - 1 (N. Juffa); tiny x is scaled.
static inline float log_of(float x) {
    const bool tiny = x < 1.17549435e-38f;
    const uint32_t bits = __builtin_bit_cast(uint32_t, tiny ? x * 8388608.0f : x);
    const uint32_t exponent = (bits - 0x3f2aaaabu) & 0xff800000u;
    const float f = __builtin_bit_cast(float, bits - exponent) - 1.0f, s = f * f;
    const float e = (float)(int32_t)exponent * 1.19209290e-7f - (tiny ? 23.0f : 0.0f);
    float even = -0.130310059f * s - 0.121483512f, odd = 0.140869141f * s + 0.139814854f;
    even = even * s - 0.166846126f;
    odd = odd * s + 0.200120345f;
    even = even * s - 0.249996200f;
    float p = (odd * f + even) * f + 0.333331972f;
    p = (p * f - 0.5f) * s + f;
    float result = e * 0.693147182f + p;
    result = x < __builtin_inff() ? result : x;    // inf and NaN stay
    result = x == 0.0f ? -__builtin_inff() : result;
    return x < 0.0f ? __builtin_nanf("") : result;
}

// log in double within 1.5 ulp, by a quotient of polynomials (S. Moshier's Cephes).
static inline double log_of(double x) {
    const bool tiny = x < 2.2250738585072014e-308;
    const uint64_t bits = __builtin_bit_cast(uint64_t, tiny ? x * 18014398509481984.0 : x);
    const uint64_t exponent = (bits - 0x3fe6a09e667f3bcd) & 0xfff0000000000000;
    const double f = __builtin_bit_cast(double, bits - exponent) - 1.0, s = f * f;
    const double e = (double)((int64_t)exponent >> 52) - (tiny ? 54.0 : 0.0);
    double p = f * 1.01875663804580931796e-4 + 4.97494994976747001425e-1;
    p = p * f + 4.70579119878881725854e0;
    p = p * f + 1.44989225341610930846e1;
    p = p * f + 1.79368678507819816313e1;
    p = p * f + 7.70838733755885391666e0;
    double q = f + 1.12873587189167450590e1;
    q = q * f + 4.52279145837532221105e1;
    q = q * f + 8.29875266912776603211e1;
    q = q * f + 7.11544750618563894466e1;
    q = q * f + 2.31251620126765340583e1;
    p = e * -2.121944400546905827679e-4 + f * (s * p / q);
    double result = e * 0.693359375 + (f + (s * -0.5 + p));
    result = x < __builtin_inf() ? result : x;  // inf and NaN stay
    result = x == 0.0 ? -__builtin_inf() : result;
    return x < 0.0 ? __builtin_nan("") : result;
}
)"},
                                                                           {"tanh_of", R"(
// tanh within 3 ulp: expm1(2x) / (expm1(2x) + 2).
static inline float tanh_of(float x) {
    x = x > 10.0f ? 10.0f : x;
    x = x < -10.0f ? -10.0f : x;
    const float t = expm1_of(2.0f * x);
    return t / (t + 2.0f);
}
static inline double tanh_of(double x) {
    x = x > 20.0 ? 20.0 : x;
    x = x < -20.0 ? -20.0 : x;
    const double t = expm1_of(2.0 * x);
    return t / (t + 2.0);
}
)"},
                                                                           {"erf_of", R"(
// erf within 2 ulp: an odd polynomial up to 1, beyond it 1 - exp(polynomial), as log(erfc) is smooth.
static inline float erf_of(float x) {
    const float s = x * x, magnitude = std::fabs(x), a = magnitude < 4.0f ? magnitude : 4.0f;
    float inner = 7.853858e-05f * s - 8.010193e-04f;
    inner = inner * s + 5.1883277e-03f;
    inner = inner * s - 2.6853813e-02f;
    inner = inner * s + 1.12835854e-01f;
    inner = inner * s - 3.7612626e-01f;
    inner = inner * s + 1.2837916e-01f;
    inner = inner * x + x;
    float outer = 1.9718289e-04f * a - 3.0556184e-03f;
    outer = outer * a + 2.2277128e-02f;
    outer = outer * a - 1.0403744e-01f;
    outer = outer * a - 6.370597e-01f;
    outer = outer * a - 1.1277496f;
    outer = outer * a - 1.7748382e-04f;
    outer = 1.0f - exp_of(outer);
    outer = x < 0.0f ? -outer : outer;
    return magnitude > 1.0f ? outer : inner;
}
)"},
                                                                           {"sincos_of", R"(
// sin (quarter = 0) or cos (quarter = 1) within 1.6 ulp, of any float: x times 2/pi, whose bits are in pieces that a float's
// product with is exact, modulo 4 turns of a quarter.
static inline float sincos_of(float x, int64_t quarter) {
    const double angle = x;
    constexpr double pieces[] = {0x1.45f306dp-1,  0x1.9391054p-30,  0x1.4fe13abp-59, 0x1.d1f534dp-88,
                                 0x1.b81b6c5p-117, 0x1.5993c4p-148, 0x1.c820ff2p-175};
    double parts[7], turns = 0.0;
    for (int i = 6; i >= 0; --i) {
        const double product = angle * pieces[i];
        parts[i] = product - 4.0 * std::nearbyint(0.25 * product);
        turns += parts[i];
    }
    const double shifted = turns + 6755399441055744.0;  // rounds to a whole number, which its low bits have
    double rest = parts[0] - (shifted - 6755399441055744.0);
    for (int i = 1; i < 7; ++i) rest += parts[i];
    const int64_t quadrant = __builtin_bit_cast(int64_t, shifted) + quarter;
    const float r = (float)(rest * 1.5707963267948966), s = r * r;
    const float sine = ((-1.9515295891e-4f * s + 8.3321608736e-3f) * s - 1.6666654611e-1f) * s * r + r;
    const float cosine = ((2.443315711809948e-5f * s - 1.388731625493765e-3f) * s + 4.166664568298827e-2f) * s * s -
                         0.5f * s + 1.0f;
    const float result = quadrant & 1 ? cosine : sine;
    return quadrant & 2 ? -result : result;
}
)"},
                                                                           {"sin_of", R"(
static inline float sin_of(float x) { return sincos_of(x, 0); }
)"},
                                                                           {"cos_of", R"(
static inline float cos_of(float x) { return sincos_of(x, 1); }
)"},
                                                                           {"rounded", R"(
// The compiler must not know that `no_bits` are none: it would turn a product and a sum into a multiply-add, which keeps
// the digits that another product has lost.
static volatile int32_t unknown_zero = 0;
template <class T> static inline T rounded(T product, int32_t no_bits) {
    if constexpr (sizeof(T) == 8) return __builtin_bit_cast(T, __builtin_bit_cast(int64_t, product) | no_bits);
    else return __builtin_bit_cast(T, __builtin_bit_cast(int32_t, product) | no_bits);
}
)"},
                                                                           {"sign_of", R"(
template <class T> static inline T sign_of(T a) { return a != a ? a : (T)((a > 0) - (a < 0)); }
)"},
                                                                           {"remainder_of", R"(
// With the divisor's sign, as in Python.
template <class T> static inline T remainder_of(T a, T b) {
    if (!std::is_floating_point<T>::value && (b == 0 || (std::is_signed<T>::value && b == (T)-1))) return 0;
    T rest;
    if constexpr (std::is_floating_point<T>::value) rest = std::fmod(a, b);
    else rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
// The same in vectors. A multiple of b that a double holds is taken off exactly, and leaves less than 2^-51 of what was
// there, or about b: six times at most, from the largest float and the smallest; of a usual number three times.
template <> inline float remainder_of<float>(float a, float b) {
    const int times = __builtin_constant_p(b) && b * b >= 0x1p-48f ? 3 : 6;
    const double inverse = 1 / (double)b;
    double rest = a;
    for (int time = 0; time < times; ++time) rest = __builtin_fma(-__builtin_trunc(rest * inverse), (double)b, rest);
    rest = __builtin_isinf(b) ? a - a + a : rest;
    const double size = __builtin_fabs((double)b);
    rest = rest >= size ? rest - size : rest <= -size ? rest + size : rest;
    return (float)(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}
)"},
                                                                           {"floor_divide", R"(
// Rounded down, as in Python: 1 // 0.1 is 9, because 0.1 is a little more than a tenth.
template <class T> static inline T floor_divide(T a, T b) {
    if constexpr (std::is_floating_point<T>::value) {
        if (b == 0) return a / b;
        const T rest = remainder_of(a, b);
        return std::isinf(b) ? (rest == b ? (T)-1 : 0 * rest) : std::nearbyint((a - rest) / b);
    }
    if (b == 0) return 0;
    const T quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
)"},
                                                                           {"shifted_left", R"(
// By more bits than there are, nothing is left, as in NumPy.
template <class T> static inline T shifted_left(T a, T by) {
    return by < 0 || by >= (T)(8 * sizeof(T)) ? (T)0 : (T)((uint64_t)a << by);
}
)"},
                                                                           {"shifted_right", R"(
template <class T> static inline T shifted_right(T a, T by) {
    const T most = (T)(8 * sizeof(T) - 1);
    return by < 0 || by > most ? (T)(a < 0 ? -1 : 0) : (T)(a >> by);
}
)"},
                                                                           {"whole_power", R"(
template <class T> static inline T whole_power(T base, T exponent) {
    T result = 1;
    for (T i = 0; i < exponent; ++i) result *= base;
    return result;
}
)"}};
    std::string text;
    for (const auto& [name, helper] : texts)
        if (needed.contains(name)) text += helper;
    return text + sort_helpers(used);
}

}  // namespace strop::playbook
