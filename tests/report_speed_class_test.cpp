// Three classes of results by speedup and share of the roofline.
#include "report/speed_class.h"

#include <gtest/gtest.h>

namespace strop::report {
namespace {

ShapeReport shape_with(double speedup, double share, const std::string& baseline = "numpy") {
    ShapeReport shape;
    shape.label = "small";
    shape.speedup.ratio = speedup;
    shape.best_baseline = baseline;
    shape.roofline_share = share;
    return shape;
}

TEST(SpeedClass, ByTheBestBaselineAndTheRoofline) {
    EXPECT_EQ(speed_class(shape_with(0.79, 0.3), 0.8), SpeedClass::slow);
    EXPECT_EQ(speed_class(shape_with(0.81, 0.3), 0.8), SpeedClass::moderate);
    EXPECT_EQ(speed_class(shape_with(1, 0.3), 0.8), SpeedClass::good);
    EXPECT_EQ(speed_class(shape_with(0.5, 0.85), 0.8), SpeedClass::good);
    EXPECT_EQ(speed_class(shape_with(0.81, 0.3), 0.9), SpeedClass::slow);
}

TEST(SpeedClass, ARooflineThatIsBeatenSaysNothing) {
    EXPECT_EQ(speed_class(shape_with(0.5, 1.3), 0.8), SpeedClass::slow);
}

TEST(SpeedClass, WithoutABaselineNothingIsCalledSlow) {
    EXPECT_EQ(speed_class(shape_with(1, 0.1, ""), 0.8), SpeedClass::moderate);
    EXPECT_EQ(speed_class(shape_with(1, 0.9, ""), 0.8), SpeedClass::good);
    EXPECT_EQ(speed_class(shape_with(1, 0, ""), 0.8), SpeedClass::moderate);
}

TEST(SpeedClass, AResultIsAsGoodAsItsWorstShape) {
    RunRecord record;
    record.shapes = {shape_with(3, 0.4), shape_with(0.6, 0.1), shape_with(0.7, 1.4)};
    record.shapes[1].label = "worst";
    const Standpoint result = standpoint(record, 0.8);
    EXPECT_EQ(result.value, SpeedClass::slow);
    EXPECT_EQ(result.shape, "worst");
    EXPECT_DOUBLE_EQ(result.speedup.ratio, 0.6);
    EXPECT_NEAR(result.roofline_share, 0.2, 1e-12);  // the beaten one is left out
}

}  // namespace
}  // namespace strop::report
