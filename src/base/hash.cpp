#include "base/hash.h"

#include <fmt/format.h>

namespace strop {

std::string content_hash(std::string_view bytes) {
    uint64_t a = 0xcbf29ce484222325ull, b = 0x84222325cbf29ce4ull;
    for (unsigned char c : bytes) {
        a = (a ^ c) * 0x100000001b3ull;
        b = (b ^ c) * 0x100000001b3ull;
        b = (b << 7) | (b >> 57);
    }
    return fmt::format("{:016x}{:016x}", mix64(a ^ bytes.size()), mix64(b + 0x9e3779b9));
}

}  // namespace strop
