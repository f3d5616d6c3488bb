// Content hashes for keys (evaluations, compiled kernels). Not for secrets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strop {

// 128 bits as 32 hexadecimal digits: two FNV-1a streams with a final avalanche.
std::string content_hash(std::string_view bytes);

// SplitMix64 step: a well-mixed 64-bit value from any seed (Steele, Lea, Flood 2014).
inline uint64_t mix64(uint64_t value) {
    value += 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
    return value ^ (value >> 31);
}

}  // namespace strop
