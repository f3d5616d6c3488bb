// Arithmetic of 16-bit floats and of pairs of them: in float, then rounded.
#pragma once

// `name`: "half", of which CUDA has functions without a prefix (hexp, hmax: __hmax).
#define EMULATOR_SMALL_FLOAT(Type, Pair, name)                                                             \
    struct alignas(4) Pair {                                                                               \
        Type x, y;                                                                                         \
    };                                                                                                     \
    inline Type operator+(Type a, Type b) { return Type((float)a + (float)b); }                            \
    inline Type operator-(Type a, Type b) { return Type((float)a - (float)b); }                            \
    inline Type operator*(Type a, Type b) { return Type((float)a * (float)b); }                            \
    inline Type operator/(Type a, Type b) { return Type((float)a / (float)b); }                            \
    inline Type operator-(Type a) { return Type(-(float)a); }                                              \
    inline Type& operator+=(Type& a, Type b) { return a = a + b; }                                         \
    inline Type& operator-=(Type& a, Type b) { return a = a - b; }                                         \
    inline Type& operator*=(Type& a, Type b) { return a = a * b; }                                         \
    inline Type& operator/=(Type& a, Type b) { return a = a / b; }                                         \
    inline bool operator<(Type a, Type b) { return (float)a < (float)b; }                                  \
    inline bool operator>(Type a, Type b) { return (float)a > (float)b; }                                  \
    inline bool operator<=(Type a, Type b) { return (float)a <= (float)b; }                                \
    inline bool operator>=(Type a, Type b) { return (float)a >= (float)b; }                                \
    inline bool operator==(Type a, Type b) { return (float)a == (float)b; }                                \
    inline bool operator!=(Type a, Type b) { return (float)a != (float)b; }                                \
    inline Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }                               \
    inline Pair operator-(Pair a, Pair b) { return {a.x - b.x, a.y - b.y}; }                               \
    inline Pair operator*(Pair a, Pair b) { return {a.x * b.x, a.y * b.y}; }                               \
    inline Type __hadd(Type a, Type b) { return a + b; }                                                   \
    inline Type __hsub(Type a, Type b) { return a - b; }                                                   \
    inline Type __hmul(Type a, Type b) { return a * b; }                                                   \
    inline Type __hdiv(Type a, Type b) { return a / b; }                                                   \
    inline Type __hneg(Type a) { return -a; }                                                              \
    inline Type __habs(Type a) { return Type(std::fabs((float)a)); }                                       \
    inline Type __hfma(Type a, Type b, Type c) { return Type(std::fma((float)a, (float)b, (float)c)); }    \
    inline Type __hmax(Type a, Type b) { return Type(std::fmax((float)a, (float)b)); }                     \
    inline Type __hmin(Type a, Type b) { return Type(std::fmin((float)a, (float)b)); }                     \
    inline bool __hgt(Type a, Type b) { return a > b; }                                                    \
    inline bool __hlt(Type a, Type b) { return a < b; }                                                    \
    inline bool __heq(Type a, Type b) { return a == b; }                                                   \
    inline bool __hisnan(Type a) { return std::isnan((float)a); }                                          \
    inline Pair __hadd2(Pair a, Pair b) { return a + b; }                                                  \
    inline Pair __hsub2(Pair a, Pair b) { return a - b; }                                                  \
    inline Pair __hmul2(Pair a, Pair b) { return a * b; }                                                  \
    inline Pair __hfma2(Pair a, Pair b, Pair c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
    inline Pair __hmax2(Pair a, Pair b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                   \
    inline Pair __hmin2(Pair a, Pair b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                   \
    inline Type hexp(Type a) { return Type(std::exp((float)a)); }                                          \
    inline Type hlog(Type a) { return Type(std::log((float)a)); }                                          \
    inline Type hsqrt(Type a) { return Type(std::sqrt((float)a)); }                                        \
    inline Type hrsqrt(Type a) { return Type(1 / std::sqrt((float)a)); }                                   \
    inline Type hrcp(Type a) { return Type(1 / (float)a); }
