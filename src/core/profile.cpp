#include "core/profile.h"

#include <fmt/format.h>

namespace strop {

std::string name_of(Dimension dimension) {
    switch (dimension) {
        case Dimension::memory: return "memory";
        case Dimension::compute: return "compute";
        case Dimension::parallelism: return "parallelism";
        case Dimension::algorithm: return "algorithm";
    }
    return {};
}

std::string lines_of(const HotLoop& loop) {
    if (loop.line == 0) return fmt::format("{:#x}", loop.first);
    if (loop.line == loop.last_line) return fmt::format("line {}", loop.line);
    return fmt::format("lines {}–{}", loop.line, loop.last_line);
}

}  // namespace strop
