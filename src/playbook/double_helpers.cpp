#include "playbook/double_helpers.h"

namespace strop::playbook {

const std::map<std::string, std::string>& double_helpers() {
    static const std::map<std::string, std::string> all = [] {
        std::map<std::string, std::string> texts;
        // x = n ln 2 + r.
        const std::string nearest_power =
            R"(    vec shifted = fma(x, splat(1.4426950408889634), splat(6755399441056766.0));
    vec n = shifted - 6755399441056766.0;
    vec r = fma(n, splat(-6.93147180369123816e-1), x);
    r = fma(n, splat(-1.90821492927058770e-10), r);
)";
        texts["vabs"] = R"(
static inline vec vabs(vec v) { return (vec)((vmask)v & 0x7fffffffffffffff); }
static inline double vabs(double s) { return __builtin_fabs(s); }
)";
        texts["twice_exp"] = R"(
// 2 exp(r) for |r| <= ln(2) / 2, by Taylor's polynomial.
static inline vec twice_exp(vec r) {
    vec p = fma(r, splat(3.2118087673643227e-10), splat(4.17535139757362e-09));
    p = fma(p, r, splat(5.010421677088344e-08));
    p = fma(p, r, splat(5.511463844797178e-07));
    p = fma(p, r, splat(5.5114638447971785e-06));
    p = fma(p, r, splat(4.96031746031746e-05));
    p = fma(p, r, splat(0.0003968253968253968));
    p = fma(p, r, splat(0.002777777777777778));
    p = fma(p, r, splat(0.016666666666666666));
    p = fma(p, r, splat(0.08333333333333333));
    p = fma(p, r, splat(0.3333333333333333));
    p = fma(p, r, splat(1.0));
    p = fma(p, r, splat(2.0));
    return fma(p, r, splat(2.0));
}
)";
        texts["vexp"] = R"(
// exp within 1.5 ulp; results below 3.2e-308 are 0. x = n ln 2 + r, exp(r) times 2^n; adding 1.5 * 2^52 rounds to a
// whole number and leaves n + 1022 in the low bits, ready to become an exponent. With twice exp(r), n = -1022 gives a
// scale of 0 and n = 1024 overflows only where it should.
static inline vec vexp(vec x) {
    x = select(splat(710.0) < x, splat(710.0), x);
    x = select(splat(-708.4) > x, splat(-708.4), x);
)" + nearest_power +
                        R"(    return twice_exp(r) * (vec)((vmask)shifted << 52);
}
static inline double vexp(double s) { return vexp(splat(s))[0]; }
)";
        texts["vexp_nonpositive"] = R"(
// exp of what is not positive, as vexp without its upper bound.
static inline vec vexp_nonpositive(vec x) {
    x = select(splat(-708.4) > x, splat(-708.4), x);
)" + nearest_power +
                                    R"(    return twice_exp(r) * (vec)((vmask)shifted << 52);
}
static inline double vexp_nonpositive(double s) { return vexp_nonpositive(splat(s))[0]; }
)";
        texts["vexp2"] = R"(
// 2^x within 1.5 ulp; results below 3.2e-308 are 0. As vexp, with r = (x - n) ln 2.
static inline vec vexp2(vec x) {
    x = select(splat(1025.0) < x, splat(1025.0), x);
    x = select(splat(-1022.1) > x, splat(-1022.1), x);
    vec shifted = x + 6755399441056766.0;
    vec r = (x - (shifted - 6755399441056766.0)) * 0.69314718055994531;
    return twice_exp(r) * (vec)((vmask)shifted << 52);
}
static inline double vexp2(double s) { return vexp2(splat(s))[0]; }
)";
        texts["vexpm1"] = R"(
// exp(x) - 1 within 2 ulp: 2^n (exp(r) - 1) + (2^n - 1), without cancellation at small x.
static inline vec vexpm1(vec x) {
    x = select(splat(710.0) < x, splat(710.0), x);
    x = select(splat(-80.0) > x, splat(-80.0), x);
)" + nearest_power +
                          R"(    vec p = fma(r, splat(1.6059043836821613e-10), splat(2.08767569878681e-09));
    p = fma(p, r, splat(2.505210838544172e-08));
    p = fma(p, r, splat(2.755731922398589e-07));
    p = fma(p, r, splat(2.7557319223985893e-06));
    p = fma(p, r, splat(2.48015873015873e-05));
    p = fma(p, r, splat(0.0001984126984126984));
    p = fma(p, r, splat(0.001388888888888889));
    p = fma(p, r, splat(0.008333333333333333));
    p = fma(p, r, splat(0.041666666666666664));
    p = fma(p, r, splat(0.16666666666666666));
    p = fma(p, r, splat(0.5));
    p = fma(p, r * r, r);
    vec half_scale = (vec)((vmask)shifted << 52);  // 2^(n-1): 2^1024 would not fit
    return 2.0 * fma(p, half_scale, half_scale - 0.5);
}
static inline double vexpm1(double s) { return vexpm1(splat(s))[0]; }
)";
        texts["vlog"] = R"(
// log within 1.5 ulp. x = m 2^e, m in [sqrt(1/2), sqrt(2)), a quotient of polynomials in m - 1 (S. Moshier's Cephes); tiny
// x is scaled.
static inline vec vlog(vec x) {
    vmask tiny = (vmask)(x < 2.2250738585072014e-308);
    vec scaled = select(tiny, x * 18014398509481984.0, x);
    vmask exponent = ((vmask)scaled - 0x3fe6a09e667f3bcd) & (int64_t)0xfff0000000000000;
    vec f = (vec)((vmask)scaled - exponent) - 1.0;
    vec e = __builtin_convertvector(exponent >> 52, vec) - select(tiny, splat(54.0), splat(0.0));
    vec p = fma(f, splat(1.01875663804580931796e-4), splat(4.97494994976747001425e-1));
    p = fma(p, f, splat(4.70579119878881725854e0));
    p = fma(p, f, splat(1.44989225341610930846e1));
    p = fma(p, f, splat(1.79368678507819816313e1));
    p = fma(p, f, splat(7.70838733755885391666e0));
    vec q = f + 1.12873587189167450590e1;
    q = fma(q, f, splat(4.52279145837532221105e1));
    q = fma(q, f, splat(8.29875266912776603211e1));
    q = fma(q, f, splat(7.11544750618563894466e1));
    q = fma(q, f, splat(2.31251620126765340583e1));
    vec s = f * f;
    p = fma(e, splat(-2.121944400546905827679e-4), f * (s * p / q));
    vec result = fma(e, splat(0.693359375), f + fma(s, splat(-0.5), p));
    result = select(x < __builtin_inf(), result, x);                      // inf and NaN stay
    result = select(x == 0.0, splat(-__builtin_inf()), result);
    return select(x < 0.0, splat(__builtin_nan("")), result);
}
static inline double vlog(double s) { return vlog(splat(s))[0]; }
)";
        texts["vtanh"] = R"(
// tanh within 3 ulp: expm1(2x) / (expm1(2x) + 2).
static inline vec vtanh(vec x) {
    vec t = vexpm1(2.0 * select(vabs(x) > 20.0, select(x > 0.0, splat(20.0), splat(-20.0)), x));
    return t / (t + 2.0);
}
static inline double vtanh(double s) { return vtanh(splat(s))[0]; }
)";
        texts["verf"] = R"(
// erf within 3 ulp: quotients of polynomials up to 1, and of exp(-x^2) beyond it (S. Moshier's Cephes).
static inline vec verf(vec x) {
    vec s = x * x;
    vec p = fma(s, splat(9.60497373987051638749e0), splat(9.00260197203842689217e1));
    p = fma(p, s, splat(2.23200534594684319226e3));
    p = fma(p, s, splat(7.00332514112805075473e3));
    p = fma(p, s, splat(5.55923013010394962768e4));
    vec q = s + 3.35617141647503099647e1;
    q = fma(q, s, splat(5.21357949780152679795e2));
    q = fma(q, s, splat(4.59432382970980127987e3));
    q = fma(q, s, splat(2.26290000613890934246e4));
    q = fma(q, s, splat(4.92673942608635921086e4));
    vec inner = x * p / q;
    vec magnitude = vabs(x);
    vec a = select(magnitude < 6.0, magnitude, splat(6.0));
    vec c = fma(a, splat(2.46196981473530512524e-10), splat(5.64189564831068821977e-1));
    c = fma(c, a, splat(7.46321056442269912687e0));
    c = fma(c, a, splat(4.86371970985681366614e1));
    c = fma(c, a, splat(1.96520832956077098242e2));
    c = fma(c, a, splat(5.26445194995477358631e2));
    c = fma(c, a, splat(9.34528527171957607540e2));
    c = fma(c, a, splat(1.02755188689515710272e3));
    c = fma(c, a, splat(5.57535335369399327526e2));
    vec d = a + 1.32281951154744992508e1;
    d = fma(d, a, splat(8.67072140885989742329e1));
    d = fma(d, a, splat(3.54937778887819891062e2));
    d = fma(d, a, splat(9.75708501743205489753e2));
    d = fma(d, a, splat(1.82390916687909736289e3));
    d = fma(d, a, splat(2.24633760818710981792e3));
    d = fma(d, a, splat(1.65666309194161350182e3));
    d = fma(d, a, splat(5.57535340817727675546e2));
    vec outer = 1.0 - vexp(-a * a) * c / d;
    outer = select(x < 0.0, -outer, outer);
    vec result = select(magnitude > 1.0, outer, inner);
    return select(x == x, result, x);
}
static inline double verf(double s) { return verf(splat(s))[0]; }
)";
        texts["vatan"] = R"(
// atan within 2 ulp: beyond 0.66 of t = (|x| - 1) / (|x| + 1), beyond tan(3 pi/8) of -1 / |x| (S. Moshier's Cephes).
static inline vec vatan(vec x) {
    vec magnitude = vabs(x);
    vec t = select(magnitude > 0.66, (magnitude - 1.0) / (magnitude + 1.0), magnitude);
    vec base = select(magnitude > 0.66, splat(0.78539816339744831), vec{});
    vec rest = select(magnitude > 0.66, splat(3.061616997868383e-17), vec{});
    t = select(magnitude > 2.41421356237309505, -1.0 / magnitude, t);
    base = select(magnitude > 2.41421356237309505, splat(1.57079632679489662), base);
    rest = select(magnitude > 2.41421356237309505, splat(6.123233995736766e-17), rest);
    vec s = t * t;
    vec p = fma(s, splat(-8.750608600031904122785e-1), splat(-1.615753718733365076637e1));
    p = fma(p, s, splat(-7.500855792314704667340e1));
    p = fma(p, s, splat(-1.228866684490136173410e2));
    p = fma(p, s, splat(-6.485021904942025371773e1));
    vec q = s + 2.485846490142306297962e1;
    q = fma(q, s, splat(1.650270098316988542046e2));
    q = fma(q, s, splat(4.328810604912902668951e2));
    q = fma(q, s, splat(4.853903996359136964868e2));
    q = fma(q, s, splat(1.945506571482613964425e2));
    vec result = base + (fma(s * p / q, t, t) + rest);
    return select(x < 0.0, -result, result);
}
static inline double vatan(double s) { return vatan(splat(s))[0]; }
)";
        texts["vsincos"] = R"(
// sin (quarter = 0) or cos (quarter = 1) within 2 ulp of 1: pi / 2 is subtracted in three parts, which holds to 200,000
// turns.
static inline vec vsincos(vec x, int quarter) {
    vec shifted = x * 0.63661977236758134 + 6755399441055744.0;
    vec n = shifted - 6755399441055744.0;
    vec r = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21;
    vmask quadrant = ((vmask)shifted & 3) + quarter;
    vec s = r * r;
    vec sine = 1.58969099521155010221e-10 * s - 2.50507602534068634195e-08;
    sine = sine * s + 2.75573137070700676789e-06;
    sine = sine * s - 1.98412698298579493134e-04;
    sine = sine * s + 8.33333333332248946124e-03;
    sine = sine * s - 1.66666666666666324348e-01;
    sine = sine * s * r + r;
    vec cosine = -1.13596475577881948265e-11 * s + 2.08757232129817482790e-09;
    cosine = cosine * s - 2.75573143513906633035e-07;
    cosine = cosine * s + 2.48015872894767294178e-05;
    cosine = cosine * s - 1.38888888888741095749e-03;
    cosine = cosine * s + 4.16666666666666019037e-02;
    cosine = cosine * s * s - 0.5 * s + 1.0;
    vec result = (quadrant & 1) != 0 ? cosine : sine;
    result = (quadrant & 2) != 0 ? -result : result;
    bool far = false;
    for (int i = 0; i < VL; ++i) far |= x[i] > 1.2e6 || x[i] < -1.2e6;
    for (int i = 0; far && i < VL; ++i) result[i] = quarter ? __builtin_cos(x[i]) : __builtin_sin(x[i]);
    return result;
}
)";
        return texts;
    }();
    return all;
}

}  // namespace strop::playbook
