#include "base/base64.h"

#include <array>
#include <cstdint>

namespace strop {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t group = 0;
        for (size_t k = i; k < i + 3; ++k)
            group = group << 8 | (k < bytes.size() ? static_cast<uint8_t>(bytes[k]) : 0u);
        for (size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    static const std::array<int, 256> values = [] {
        std::array<int, 256> all;
        all.fill(-1);
        for (size_t i = 0; i < digits.size(); ++i) all[static_cast<uint8_t>(digits[i])] = static_cast<int>(i);
        return all;
    }();
    size_t length = text.size();
    while (length > 0 && text[length - 1] == '=' && text.size() - length < 2) --length;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    uint32_t group = 0;
    for (size_t i = 0; i < length; ++i) {
        const int value = values[static_cast<uint8_t>(text[i])];
        if (value < 0) return std::nullopt;
        group = group << 6 | static_cast<uint32_t>(value);
        if (i % 4 > 0) bytes += static_cast<char>(group >> (6 - 2 * (i % 4)) & 255);
    }
    return bytes;
}

}  // namespace strop
