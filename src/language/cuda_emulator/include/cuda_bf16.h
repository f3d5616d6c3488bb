// bfloat16: rounded to nearest, ties to even, after every operation, as on a device.
#pragma once

#include <cuda_runtime.h>

#include <emulator/small_floats.h>

namespace emulator {
inline unsigned short bfloat16_bits(float value) {
    const unsigned bits = same_bits<unsigned>(value);
    if (value != value) return (unsigned short)((bits >> 16) | 0x40);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
}  // namespace emulator

struct alignas(2) __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float value) : bits(emulator::bfloat16_bits(value)) {}
    __nv_bfloat16(double value) : __nv_bfloat16((float)value) {}
    __nv_bfloat16(int value) : __nv_bfloat16((float)value) {}
    operator float() const { return emulator::same_bits<float>((unsigned)bits << 16); }
};
EMULATOR_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
inline float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {__nv_bfloat16(a), __nv_bfloat16(a)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline float __low2float(__nv_bfloat162 a) { return (float)a.x; }
inline float __high2float(__nv_bfloat162 a) { return (float)a.y; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    __nv_bfloat16 made;
    made.bits = bits;
    return made;
}
