#include "tune/multiples_loop.h"

namespace strop::tune {

namespace {

// Without FMA, whose results differ.
[[gnu::target("avx2")]] void with_avx2(float* sums, const std::vector<float>& factors,
                                       const std::vector<std::vector<float>>& rows, size_t begin, size_t count) {
    add_multiples_loop(sums, factors, rows, begin, count);
}

}  // namespace

AddMultiples wide_add_multiples() { return __builtin_cpu_supports("avx2") ? with_avx2 : nullptr; }

}  // namespace strop::tune
