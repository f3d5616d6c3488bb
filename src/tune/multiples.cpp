#include "tune/multiples.h"

#include <algorithm>

#include "tune/multiples_loop.h"

namespace strop::tune {

void add_multiples(float* sums, const std::vector<float>& factors, const std::vector<std::vector<float>>& rows,
                   size_t begin, size_t count) {
    static const AddMultiples wide = wide_add_multiples();
    if (wide) wide(sums, factors, rows, begin, count);
    else add_multiples_loop(sums, factors, rows, begin, count);
}

void add_multiples(std::vector<float>& sums, const std::vector<float>& factors,
                   const std::vector<std::vector<float>>& rows) {
    for (size_t begin = 0; begin < sums.size(); begin += piece)
        add_multiples(sums.data() + begin, factors, rows, begin, std::min(piece, sums.size() - begin));
}

}  // namespace strop::tune
