// How inputs are drawn.
#include "judge/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace strop::judge {
namespace {

TEST(Inputs, whole_numbers_are_drawn_from_their_first_to_before_their_limit) {
    std::vector<int64_t> drawn(10000);
    const auto ends = [&](DType dtype, std::optional<int64_t> from, int64_t limit) {
        std::vector<int8_t> small(drawn.size());
        const Tensor input{"i", dtype, {}, Fill::integers, Expression(limit), 1, from};
        void* to = dtype == DType::int8 ? static_cast<void*>(small.data()) : drawn.data();
        fill_tensor(to, static_cast<int64_t>(drawn.size()), input, {}, Distribution::declared, 5);
        if (dtype == DType::int8) drawn.assign(small.begin(), small.end());
        const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end());
        return std::pair(*low, *high);
    };
    EXPECT_EQ(ends(DType::int64, {}, 50), std::pair(int64_t{0}, int64_t{49}));
    EXPECT_EQ(ends(DType::int64, -100, 50), std::pair(int64_t{-100}, int64_t{49}));
    EXPECT_EQ(ends(DType::int64, -9, -2), std::pair(int64_t{-9}, int64_t{-3}));
    EXPECT_EQ(ends(DType::int64, 1, 7), std::pair(int64_t{1}, int64_t{6}));
    EXPECT_EQ(ends(DType::int8, {}, 50), std::pair(int64_t{-50}, int64_t{49}));
    EXPECT_EQ(ends(DType::int8, -128, 128), std::pair(int64_t{-128}, int64_t{127}));
}

TEST(Inputs, normal_values_have_the_moments_and_tails_of_the_distribution) {
    std::vector<float> x(1 << 21);
    const Tensor input{"x", DType::float32, {}, Fill::normal, {}, 1, {}};
    fill_tensor(x.data(), static_cast<int64_t>(x.size()), input, {}, Distribution::declared, 5);
    double sum = 0, squares = 0, fourth = 0, beyond_2 = 0, beyond_4 = 0;
    for (double value : x) {
        sum += value;
        squares += value * value;
        fourth += value * value * value * value;
        beyond_2 += std::abs(value) > 2;
        beyond_4 += std::abs(value) > 4;
        ASSERT_LT(std::abs(value), 8);
    }
    const double n = static_cast<double>(x.size());
    EXPECT_NEAR(sum / n, 0, 0.004);
    EXPECT_NEAR(squares / n, 1, 0.005);
    EXPECT_NEAR(fourth / n, 3, 0.04);
    EXPECT_NEAR(beyond_2 / n, 0.0455, 0.001);
    EXPECT_NEAR(beyond_4 / n, 6.33e-5, 3e-5);
}

}  // namespace
}  // namespace strop::judge
