#include "report/svg.h"

#include <limits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strop::report {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ReportDrawing, TicksLieInsideTheAxisAndApart) {
    for (auto [low, high] : {std::pair{0.9, 1.1}, {0.3, 40.0}, {1e-3, 1e6}, {0.97, 1.03}}) {
        LogScale scale(low, high, 0, 600);
        std::vector<double> ticks = scale.ticks(40);
        for (size_t i = 0; i < ticks.size(); ++i) {
            EXPECT_GE(ticks[i], low * (1 - 1e-6));
            EXPECT_LE(ticks[i], high * (1 + 1e-6));
            if (i > 0) {
                EXPECT_GE(scale(ticks[i]) - scale(ticks[i - 1]), 40);
            }
        }
        EXPECT_FALSE(ticks.empty());
    }
}

TEST(ReportDrawing, ScaleClampsToTheAxis) {
    LogScale scale(1, 100, 10, 30);
    EXPECT_DOUBLE_EQ(scale(10), 20);
    EXPECT_DOUBLE_EQ(scale(infinity), 30);
    EXPECT_DOUBLE_EQ(scale(0), 10);
    EXPECT_DOUBLE_EQ(LogScale(2, 2, 0, 10)(2), 0);
}

TEST(ReportDrawing, SpreadKeepsTheOrderAndTheGap) {
    std::vector<double> placed = spread({50, 51, 10, 99}, 12, 0, 100);
    EXPECT_DOUBLE_EQ(placed[2], 10);
    EXPECT_GE(placed[1] - placed[0], 12 - 1e-9);
    EXPECT_GE(placed[3] - placed[1], 12 - 1e-9);
    for (double place : placed) {
        EXPECT_GE(place, 0);
        EXPECT_LE(place, 100);
    }
    EXPECT_TRUE(spread({}, 12, 0, 100).empty());
}

TEST(ReportDrawing, TextIsFittedToItsRoom) {
    std::string cut = fitted("a_very_long_kernel_name_that_never_ends", 12, 100);
    EXPECT_LE(text_width(cut, 12), 100);
    EXPECT_THAT(cut, testing::EndsWith("…"));
    EXPECT_EQ(fitted("short", 12, 100), "short");
}

}  // namespace
}  // namespace strop::report
