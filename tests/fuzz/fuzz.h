// What the fuzz targets have in common. An input may be refused with a UsageError; whatever else leaves a target is a
// finding, in libFuzzer's programs as in the corpus test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace strop::fuzz {

inline std::string text_of(const uint8_t* data, size_t size) {
    return std::string(reinterpret_cast<const char*>(data), size);
}

inline void must(bool holds, const std::string& what) {
    if (!holds) throw std::logic_error(what);
}

// Whether it was accepted.
template <typename Action>
bool accepted(Action action) {
    try {
        action();
        return true;
    } catch (const UsageError&) {
        return false;
    }
}

}  // namespace strop::fuzz
