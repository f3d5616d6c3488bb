// Sums of multiples of long rows, which is what predicting many candidates comes down to.
#pragma once

#include <cstddef>
#include <vector>

namespace strop::tune {

inline constexpr size_t piece = 128;  // entries: what a few hundred rows have there fits a near cache

// sums += factors[0] * rows[0] + factors[1] * rows[1] ..., of each row `count` entries from `begin` on.
void add_multiples(float* sums, const std::vector<float>& factors, const std::vector<std::vector<float>>& rows,
                   size_t begin, size_t count);
// The same of whole rows, piece by piece.
void add_multiples(std::vector<float>& sums, const std::vector<float>& factors,
                   const std::vector<std::vector<float>>& rows);

}  // namespace strop::tune
