#include "core/half.h"

#include <bit>
#include <cmath>
#include <vector>

namespace strop {

namespace {

constexpr uint32_t sign_bit = 0x8000, infinite_half = 0x7c00, quiet_half = 0x7e00, quiet_bfloat = 0x40;

float from_half(uint16_t bits) {
    const uint32_t exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
    const float sign = bits & sign_bit ? -1.0f : 1.0f;
    if (exponent == 0x1f && fraction != 0) return NAN;
    if (exponent == 0x1f) return sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 0x400), static_cast<int>(exponent) - 25);
}

uint16_t to_half(float value) {
    const uint32_t sign = std::bit_cast<uint32_t>(value) >> 16 & sign_bit;
    if (std::isnan(value)) return static_cast<uint16_t>(sign | quiet_half);
    const float magnitude = std::fabs(value);
    if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | infinite_half);
    // Adding a power of two leaves the fraction's last bits where they are rounded, to even.
    if (magnitude < 0x1p-14f)
        return static_cast<uint16_t>(sign |
                                     (std::bit_cast<uint32_t>(magnitude + 0.5f) - std::bit_cast<uint32_t>(0.5f)));
    uint32_t bits = std::bit_cast<uint32_t>(magnitude);
    bits += 0xfff + ((bits >> 13) & 1);
    return static_cast<uint16_t>(sign | ((bits >> 13) - (112u << 10)));
}

uint16_t to_bfloat(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | quiet_bfloat);
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

float widened(uint16_t bits, DType dtype) {
    if (dtype == DType::bfloat16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    static const std::vector<float> values = [] {
        std::vector<float> all;
        for (uint32_t each = 0; each < 0x10000; ++each) all.push_back(from_half(static_cast<uint16_t>(each)));
        return all;
    }();
    return values[bits];
}

uint16_t narrowed(float value, DType dtype) { return dtype == DType::float16 ? to_half(value) : to_bfloat(value); }

}  // namespace strop
