#include "tune/multiples_loop.h"

namespace strop::tune {

namespace {

void usual(float* sums, const std::vector<float>& factors, const std::vector<std::vector<float>>& rows, size_t begin,
           size_t count) {
    add_multiples_loop(sums, factors, rows, begin, count);
}

}  // namespace

AddMultiples fastest_add_multiples() { return usual; }

}  // namespace strop::tune
