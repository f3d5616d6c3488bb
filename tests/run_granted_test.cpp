#include "run/granted.h"

#include <gtest/gtest.h>

namespace strop {
namespace {

Problem problem_with(Range range) {
    Problem problem;
    problem.name = "windows";
    problem.dimensions = {"T", "N"};
    problem.range = {{"T", range}, {"N", {1, 100}}};
    return problem;
}

TEST(Granted, IsWhatTheRangeDoesNotPromise) {
    Problem open = problem_with({1, 1000}), declared = problem_with({64, 1000, true});
    const std::vector<Expression> conditions = {Expression::parse("T >= 4"), Expression::parse("T - N >= 0")};
    EXPECT_EQ(take_for_granted(conditions, open),
              "for shapes where T >= 4 and T - N >= 0: at others the reference's slices are cut off (with such a shape "
              "in the problem kernels are written for those, too)");
    EXPECT_TRUE(admits(open, {{"T", 4}, {"N", 4}}));
    EXPECT_FALSE(admits(open, {{"T", 3}, {"N", 2}}));
    EXPECT_FALSE(admits(open, {{"T", 5}, {"N", 6}}));
    (void)take_for_granted(conditions, declared);
    ASSERT_EQ(declared.require.size(), 1u);
    EXPECT_EQ(declared.require[0].text(), "T - N >= 0");
}

TEST(Granted, IsNothingToSpeakOfWhereAllIsPromised) {
    Problem problem = problem_with({4, 1000});
    EXPECT_EQ(take_for_granted({Expression::parse("T >= 4")}, problem), "");
    EXPECT_TRUE(problem.require.empty());
}

}  // namespace
}  // namespace strop
