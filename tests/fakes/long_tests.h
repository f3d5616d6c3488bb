// What takes long is tested whole with scripts/test --long, and else a sample of it, which is the same each time.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace strop {

inline bool is_long_run() { return std::getenv("STROP_LONG_TESTS") != nullptr; }
inline bool is_in_sample(size_t which) { return is_long_run() || which % 3 == 0; }

}  // namespace strop
