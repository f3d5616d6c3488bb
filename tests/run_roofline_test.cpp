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
    EXPECT_FALSE(beaten_by_baselines({shape_of(0, {{"numpy", 10}})}));   // nothing was measured
    EXPECT_FALSE(beaten_by_baselines({shape_of(100, {{"numpy", 0}})}));  // nor here
    EXPECT_FALSE(beaten_by_baselines({shape_of(100, {{"numpy", 97}})}));
    EXPECT_TRUE(beaten_by_baselines({shape_of(100, {{"numpy", 97}}), shape_of(100, {{"jax", 500}, {"numpy", 80}})}));
}

TEST(Roofline, that_was_beaten_is_none) {
    Roofline line;
    line.nanoseconds = line.compute_ns = 100;
    line.bound = "compute";
    line.flops = 1000;
    EXPECT_EQ(seen_beside(line, 96).nanoseconds, 100);
    EXPECT_EQ(seen_beside(line, 0).nanoseconds, 100);  // nothing was measured
    const Roofline beaten = seen_beside(line, 80);
    EXPECT_TRUE(beaten.beaten);
    EXPECT_EQ(beaten.nanoseconds, 0);
    EXPECT_EQ(beaten.compute_ns, 0);
    EXPECT_EQ(beaten.bound, "");
    EXPECT_EQ(beaten.flops, 1000);
}

TEST(Roofline, of_float64_is_that_of_registers_that_hold_half_as_many_numbers) {
    Machine machine;
    machine.ceilings = {1e9, 2e9, 1e12, 1e12, 1e12};
    const auto line_of = [&](DType type) {
        Problem problem;
        problem.dimensions = {"N"};
        problem.inputs = {{"x", type, {Expression::symbol("N")}, Fill::normal, {}}};
        problem.outputs = {{"y", type, {Expression::symbol("N")}, Fill::normal, {}}};
        problem.flops = Expression::parse("1000 * N");
        return roofline(problem, {}, machine, {{"N", 2000}});
    };
    EXPECT_DOUBLE_EQ(line_of(DType::float32).compute_ns, 1e6);
    EXPECT_DOUBLE_EQ(line_of(DType::float64).compute_ns, 2e6);
    EXPECT_DOUBLE_EQ(line_of(DType::float64).traffic_ns, 2 * line_of(DType::float32).traffic_ns);
}

}  // namespace
}  // namespace strop
