// When one pass may stand for two: a mean has to be over all that is summed.
#include <gtest/gtest.h>

#include "fakes/graph_builder.h"
#include "playbook/loop_laws.h"

namespace strop::playbook {
namespace {

// x minus its mean over the last axes, divided by the mean square of that: (x, count) -> y.
std::optional<std::vector<MergeLaw>> laws_of_normalization(const std::vector<std::string>& shape,
                                                           const std::vector<int>& axes, const std::string& count) {
    GraphBuilder b("normalized");
    const int x = b.input("x", shape);
    const int centred = b.point("subtract", {x, b.mean(x, axes, count)});
    const int spread = b.mean(b.point("square", {centred}), axes, count);
    b.output("y", b.point("multiply", {centred, b.point("rsqrt", {b.point("add", {spread, b.constant(1e-5)})})}));
    return merge_laws(loop_form(b.problem, b.graph));
}

TEST(MergeLaws, KnowAMeanOverAnyExtent) {
    EXPECT_TRUE(laws_of_normalization({"M", "N"}, {1}, "N").has_value());
    EXPECT_TRUE(laws_of_normalization({"M", "N//2"}, {1}, "N//2").has_value());
    EXPECT_TRUE(laws_of_normalization({"M", "H", "W"}, {1, 2}, "H*W").has_value());
}

TEST(MergeLaws, DoNotTakeAnotherCountForTheMeans) {
    EXPECT_FALSE(laws_of_normalization({"M", "N"}, {1}, "M").has_value());
    EXPECT_FALSE(laws_of_normalization({"M", "H", "W"}, {1, 2}, "H*H").has_value());
}

}  // namespace
}  // namespace strop::playbook
