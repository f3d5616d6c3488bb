// Half precision: rounded after every operation, as on a device.
#pragma once

#include <cuda_runtime.h>

#include <emulator/small_floats.h>

struct alignas(2) __half {
    unsigned short bits;
    __half() = default;
    __half(float value) : bits(emulator::same_bits<unsigned short>((_Float16)value)) {}
    __half(double value) : bits(emulator::same_bits<unsigned short>((_Float16)value)) {}
    __half(int value) : __half((float)value) {}
    operator float() const { return (float)emulator::same_bits<_Float16>(bits); }
};
EMULATOR_SMALL_FLOAT(__half, __half2, half)
using half = __half;
using half2 = __half2;

inline __half __float2half(float a) { return __half(a); }
inline __half __float2half_rn(float a) { return __half(a); }
inline float __half2float(__half a) { return (float)a; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
inline float2 __half22float2(__half2 a) { return {(float)a.x, (float)a.y}; }
inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline float __low2float(__half2 a) { return (float)a.x; }
inline float __high2float(__half2 a) { return (float)a.y; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline __half __ushort_as_half(unsigned short bits) {
    __half made;
    made.bits = bits;
    return made;
}
