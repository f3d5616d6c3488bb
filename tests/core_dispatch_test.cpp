#include "core/dispatch.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace strop {
namespace {

// Winner 0 below N <= 64; above, winner 1 for M*N <= 10000, else winner 2.
DispatchTree two_levels() {
    DispatchTree tree;
    tree.nodes.resize(5);
    tree.nodes[0] = {-1, Expression::parse("N"), 64, 1, 2};
    tree.nodes[1].winner = 0;
    tree.nodes[2] = {-1, Expression::parse("M*N"), 10000, 3, 4};
    tree.nodes[3].winner = 1;
    tree.nodes[4].winner = 2;
    return tree;
}

TEST(Pick, FollowsTheTreeWithInclusiveThresholds) {
    std::vector<DispatchWinner> winners(3);
    Problem problem;
    DispatchTree tree = two_levels();
    auto at = [&](int64_t m, int64_t n) { return pick(tree, winners, problem, {{"M", m}, {"N", n}}); };
    EXPECT_EQ(at(1000, 64), 0);
    EXPECT_EQ(at(100, 65), 1);
    EXPECT_EQ(at(100, 100), 1);
    EXPECT_EQ(at(101, 100), 2);
}

TEST(Pick, AnEmptyTreeIsTheFallback) {
    DispatchTree tree;
    tree.fallback = 1;
    std::vector<DispatchWinner> winners(2);
    EXPECT_EQ(pick(tree, winners, Problem{}, {{"N", 5}}), 1);
}

TEST(Pick, AFailedConditionIsTheFallback) {
    std::vector<DispatchWinner> winners(3);
    winners[1].kernel.condition = Expression::parse("N % 8 == 0");
    Problem problem;
    DispatchTree tree = two_levels();
    tree.fallback = 2;
    EXPECT_EQ(pick(tree, winners, problem, {{"M", 10}, {"N", 72}}), 1);
    EXPECT_EQ(pick(tree, winners, problem, {{"M", 10}, {"N", 73}}), 2);
}

TEST(Pick, FeaturesMayUseIntegerParameters) {
    Problem problem;
    problem.parameters = {{"stride", DType::int64, 2}};
    DispatchTree tree;
    tree.nodes.resize(3);
    tree.nodes[0] = {-1, Expression::parse("N//stride"), 4, 1, 2};
    tree.nodes[1].winner = 0;
    tree.nodes[2].winner = 1;
    std::vector<DispatchWinner> winners(2);
    EXPECT_EQ(pick(tree, winners, problem, {{"N", 9}}), 0);
    EXPECT_EQ(pick(tree, winners, problem, {{"N", 10}}), 1);
    EXPECT_THROW(pick(tree, winners, problem, {{"M", 10}}), UsageError);
}

}  // namespace
}  // namespace strop
