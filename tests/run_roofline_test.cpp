#include "run/roofline.h"

#include <gtest/gtest.h>

namespace strop {
namespace {

ShapeReport shape_of(double roofline_ns, const std::map<std::string, double>& baselines) {
    ShapeReport shape;
    shape.roofline_ns = roofline_ns;
    shape.baselines = baselines;
    return shape;
}

TEST(Roofline, is_beaten_by_a_baseline_that_is_clearly_faster) {
    EXPECT_FALSE(beaten_by_baselines({}));
    EXPECT_FALSE(beaten_by_baselines({shape_of(0, {{"numpy", 10}})}));          // nothing was measured
    EXPECT_FALSE(beaten_by_baselines({shape_of(100, {{"numpy", 0}})}));         // nor here
    EXPECT_FALSE(beaten_by_baselines({shape_of(100, {{"numpy", 97}})}));
    EXPECT_TRUE(beaten_by_baselines({shape_of(100, {{"numpy", 97}}), shape_of(100, {{"jax", 500}, {"numpy", 80}})}));
}

}  // namespace
}  // namespace strop
