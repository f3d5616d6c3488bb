// Functions of device code beside those of <math.h>. The fast ones are as exact as the others here: what a device loses
// by them is not seen.
#pragma once

#include <math.h>
#include <string.h>

#include <cmath>
#include <type_traits>

#include <emulator/types.h>

#define EMULATOR_ONE(type, name, value) \
    inline type name(type a) { return value; }
#define EMULATOR_TWO(type, name, value) \
    inline type name(type a, type b) { return value; }
EMULATOR_ONE(float, __expf, std::exp(a))
EMULATOR_ONE(float, __exp10f, std::pow(10.0f, a))
EMULATOR_ONE(float, __logf, std::log(a))
EMULATOR_ONE(float, __log2f, std::log2(a))
EMULATOR_ONE(float, __log10f, std::log10(a))
EMULATOR_ONE(float, __sinf, std::sin(a))
EMULATOR_ONE(float, __cosf, std::cos(a))
EMULATOR_ONE(float, __tanf, std::tan(a))
EMULATOR_ONE(float, __tanhf, std::tanh(a))
EMULATOR_TWO(float, __powf, std::pow(a, b))
EMULATOR_TWO(float, __fdividef, a / b)
EMULATOR_TWO(float, fdividef, a / b)
EMULATOR_TWO(float, __fadd_rn, a + b)
EMULATOR_TWO(float, __fsub_rn, a - b)
EMULATOR_TWO(float, __fmul_rn, a* b)
EMULATOR_TWO(float, __fdiv_rn, a / b)
EMULATOR_TWO(double, __dadd_rn, a + b)
EMULATOR_TWO(double, __dmul_rn, a* b)
EMULATOR_ONE(float, __frcp_rn, 1 / a)
EMULATOR_ONE(float, __fsqrt_rn, std::sqrt(a))
EMULATOR_ONE(float, __frsqrt_rn, 1 / std::sqrt(a))
EMULATOR_ONE(float, __saturatef, a > 0 ? (a < 1 ? a : 1) : 0)
EMULATOR_ONE(float, rsqrtf, 1 / std::sqrt(a))
EMULATOR_ONE(float, rsqrt, 1 / std::sqrt(a))
EMULATOR_ONE(double, rsqrt, 1 / std::sqrt(a))
EMULATOR_ONE(float, sinpif, std::sin((float)M_PI* a))
EMULATOR_ONE(float, cospif, std::cos((float)M_PI* a))
EMULATOR_ONE(float, normcdff, 0.5f * std::erfc(-a * (float)M_SQRT1_2))
EMULATOR_ONE(double, normcdf, 0.5 * std::erfc(-a * M_SQRT1_2))
EMULATOR_TWO(int, __mul24, a* b)
EMULATOR_TWO(int, __mulhi, (int)(((long long)a * b) >> 32))
EMULATOR_TWO(unsigned, __umulhi, (unsigned)(((unsigned long long)a * b) >> 32))
#undef EMULATOR_ONE
#undef EMULATOR_TWO
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline void __sincosf(float a, float* sine, float* cosine) { *sine = std::sin(a), *cosine = std::cos(a); }

inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }
inline int __clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline unsigned __brev(unsigned a) { return __builtin_bitreverse32(a); }
inline unsigned long long __brevll(unsigned long long a) { return __builtin_bitreverse64(a); }
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return (unsigned)(((((unsigned long long)high << 32) | low) << (by & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return (unsigned)((((unsigned long long)high << 32) | low) >> (by & 31));
}
inline int __dp4a(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (signed char)(b >> i);
    return c;
}

namespace emulator {
template <class To, class From>
inline To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
}  // namespace emulator
inline int __float_as_int(float a) { return emulator::same_bits<int>(a); }
inline unsigned __float_as_uint(float a) { return emulator::same_bits<unsigned>(a); }
inline float __int_as_float(int a) { return emulator::same_bits<float>(a); }
inline float __uint_as_float(unsigned a) { return emulator::same_bits<float>(a); }
inline long long __double_as_longlong(double a) { return emulator::same_bits<long long>(a); }
inline double __longlong_as_double(long long a) { return emulator::same_bits<double>(a); }
inline int __float2int_rn(float a) { return (int)std::nearbyint(a); }
inline int __float2int_rz(float a) { return (int)a; }
inline int __float2int_rd(float a) { return (int)std::floor(a); }
inline int __float2int_ru(float a) { return (int)std::ceil(a); }
inline unsigned __float2uint_rn(float a) { return (unsigned)std::nearbyint(a); }
inline unsigned __float2uint_rz(float a) { return (unsigned)a; }
inline float __int2float_rn(int a) { return (float)a; }
inline float __uint2float_rn(unsigned a) { return (float)a; }

// Loads and stores with a word about caches.
#define EMULATOR_LOAD(name)              \
    template <class Value>               \
    inline Value name(const Value* at) { \
        return *at;                      \
    }
#define EMULATOR_STORE(name)                   \
    template <class Value>                     \
    inline void name(Value* at, Value value) { \
        *at = value;                           \
    }
EMULATOR_LOAD(__ldg)
EMULATOR_LOAD(__ldca)
EMULATOR_LOAD(__ldcg)
EMULATOR_LOAD(__ldcs)
EMULATOR_LOAD(__ldlu)
EMULATOR_LOAD(__ldcv)
EMULATOR_STORE(__stwb)
EMULATOR_STORE(__stcg)
EMULATOR_STORE(__stcs)
EMULATOR_STORE(__stwt)
#undef EMULATOR_LOAD
#undef EMULATOR_STORE

// min and max of two numbers of any types; the other where one is NaN.
template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>>
inline std::common_type_t<A, B> max(A a, B b) {
    using Both = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point<Both>::value) return std::fmax((Both)a, (Both)b);
    else return (Both)a < (Both)b ? (Both)b : (Both)a;
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>>
inline std::common_type_t<A, B> min(A a, B b) {
    using Both = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point<Both>::value) return std::fmin((Both)a, (Both)b);
    else return (Both)b < (Both)a ? (Both)b : (Both)a;
}
