// The loop of multiples.h, for one instruction set after another.
#pragma once

#include <cstddef>
#include <vector>

namespace strop::tune {

using AddMultiples = void (*)(float* sums, const std::vector<float>& factors,
                              const std::vector<std::vector<float>>& rows, size_t begin, size_t count);

// With wider vectors than every processor has, where this one has them; else null. It gives the same bits.
AddMultiples wide_add_multiples();

[[gnu::always_inline]] inline void add_multiples_loop(float* __restrict sums, const std::vector<float>& factors,
                                                      const std::vector<std::vector<float>>& rows, size_t begin,
                                                      size_t count) {
    size_t j = 0;
    for (; j + 4 <= factors.size(); j += 4) {
        const float *a = rows[j].data() + begin, *b = rows[j + 1].data() + begin, *c = rows[j + 2].data() + begin,
                    *d = rows[j + 3].data() + begin;
        float fa = factors[j], fb = factors[j + 1], fc = factors[j + 2], fd = factors[j + 3];
        for (size_t i = 0; i < count; ++i) sums[i] += (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
    }
    for (; j < factors.size(); ++j)
        for (size_t i = 0; i < count; ++i) sums[i] += factors[j] * rows[j][begin + i];
}

}  // namespace strop::tune
