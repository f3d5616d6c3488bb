// What takes long is tested whole with scripts/test --long, and else a sample of it, which is the same each time.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace strop {

inline bool is_long_run() { return std::getenv("STROP_LONG_TESTS") != nullptr; }
// Of kernels that are called for their results: as people compile them in a long run, and else what is quickest.
inline const char* kernel_optimization() { return is_long_run() ? "-O3" : "-O0"; }
inline bool is_in_sample(size_t which) { return is_long_run() || which % 3 == 0; }

}  // namespace strop
