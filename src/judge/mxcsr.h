// The control register of x86-64's vector instructions: what a function must leave as it found it. The rest of its bits
// are sticky flags.
#pragma once

#include <array>
#include <cstdint>

namespace strop::judge::mxcsr {

inline constexpr uint32_t usual = 0x1f80;  // what a process starts with
inline constexpr std::array<uint32_t, 3> parts = {0x6000, 0x8040, 0x1f80};
inline constexpr std::array<const char*, 3> names = {"the rounding of vector instructions",
                                                     "the treatment of subnormal numbers", "floating-point traps"};

}  // namespace strop::judge::mxcsr
