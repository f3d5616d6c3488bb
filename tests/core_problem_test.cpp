#include <cmath>

#include "core/half.h"
#include "core/problem.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace strop {
namespace {

Expression parse(const char* text) { return Expression::parse(text); }

// One-dimensional pooling: y[(L - size)//stride + 1] of x[L], with float32 eps.
Problem pooling() {
    Problem problem;
    problem.name = "pooling";
    problem.inputs = {{"x", DType::float32, {parse("B"), parse("L")}}};
    problem.outputs = {{"y", DType::float64, {parse("B"), parse("(L - size)//stride + 1")}}};
    problem.parameters = {{"size", DType::int64, 3}, {"stride", DType::int32, 2}, {"eps", DType::float32, 0.5}};
    problem.dimensions = {"B", "L"};
    problem.range = {{"B", {1, 8}}, {"L", {0, 100}}};
    problem.require = {parse("B % 2 == 0 or B == 1")};
    return problem;
}

TEST(DTypes, HalvesRoundToNearestAndKeepWhatIsNoNumber) {
    for (DType type : {DType::float16, DType::bfloat16}) {
        for (uint32_t bits = 0; bits < 0x10000; ++bits) {
            const float value = widened(static_cast<uint16_t>(bits), type);
            const uint16_t back = narrowed(value, type);
            if (std::isnan(value)) EXPECT_TRUE(std::isnan(widened(back, type)));
            else EXPECT_EQ(back, bits);
        }
        EXPECT_TRUE(std::isinf(widened(narrowed(3.4e38f, type), type)));
    }
    EXPECT_EQ(narrowed(1.00390625f, DType::bfloat16), 0x3f80);  // half way: to even
    EXPECT_EQ(narrowed(1.01171875f, DType::bfloat16), 0x3f82);
    EXPECT_EQ(narrowed(0x1.002p0f, DType::float16), 0x3c00);
    EXPECT_EQ(narrowed(0x1p-25f, DType::float16), 0);  // half of the smallest
}

TEST(DTypes, NamesSizesAndCTypesAgree) {
    const std::pair<DType, size_t> sizes[] = {{DType::float32, sizeof(float)},
                                              {DType::float64, sizeof(double)},
                                              {DType::int32, 4},
                                              {DType::int64, 8},
                                              {DType::int8, 1},
                                              {DType::uint8, 1},
                                              {DType::boolean, 1},
                                              {DType::float16, 2},
                                              {DType::bfloat16, 2}};
    for (const auto& [dtype, size] : sizes) {
        EXPECT_EQ(size_of(dtype), size);
        EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
    }
    EXPECT_EQ(name_of(DType::boolean), "bool");
    EXPECT_EQ(c_type(DType::uint8), "uint8_t");
    EXPECT_EQ(parse_dtype("float8"), std::nullopt);
    EXPECT_EQ(parse_dtype("Float32"), std::nullopt);
    EXPECT_TRUE(is_floating(DType::float64));
    EXPECT_FALSE(is_floating(DType::boolean));
}

TEST(Fills, NamesRoundTrip) {
    for (Fill fill : {Fill::normal, Fill::uniform, Fill::positive, Fill::integers, Fill::zeros_ones})
        EXPECT_EQ(parse_fill(name_of(fill)), fill);
    EXPECT_EQ(parse_fill("gaussian"), std::nullopt);
}

TEST(Bindings, HoldDimensionsAndIntegerParametersOnly) {
    Bindings bindings = bindings_of(pooling(), {{"B", 2}, {"L", 9}});
    EXPECT_EQ(bindings, (Bindings{{"B", int64_t{2}}, {"L", int64_t{9}}, {"size", int64_t{3}}, {"stride", int64_t{2}}}));
}

TEST(Extents, FollowExpressions) {
    Problem problem = pooling();
    Dimensions dims = {{"B", 2}, {"L", 9}};
    EXPECT_EQ(extents(problem, problem.outputs[0], dims), (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(element_count(problem, problem.outputs[0], dims), 8);
    EXPECT_EQ(bytes_of(problem, problem.outputs[0], dims), 64);
    EXPECT_EQ(bytes_of(problem, problem.inputs[0], dims), 72);
    Tensor scalar{"s", DType::float32, {}};
    EXPECT_EQ(element_count(problem, scalar, dims), 1);
}

TEST(Extents, BadOnesAreUsageErrors) {
    Problem problem = pooling();
    EXPECT_THROW(extents(problem, problem.outputs[0], {{"B", 2}, {"L", 0}}), UsageError);  // (0 - 3)//2 + 1
    EXPECT_THROW(extents(problem, problem.inputs[0], {{"B", 2}}), UsageError);
    Tensor half{"h", DType::float32, {parse("L/2")}};
    EXPECT_THROW(extents(problem, half, {{"B", 1}, {"L", 3}}), UsageError);
}

TEST(Extents, TooManyElementsAreAnError) {
    Problem problem = pooling();
    int64_t large = int64_t{1} << 32;
    EXPECT_THROW(element_count(problem, problem.inputs[0], {{"B", large}, {"L", large}}), UsageError);
    EXPECT_THROW(bytes_of(problem, problem.inputs[0], {{"B", large}, {"L", large / 4}}), UsageError);
}

TEST(Admits, RangeRequireAndExtents) {
    Problem problem = pooling();
    EXPECT_TRUE(admits(problem, {{"B", 1}, {"L", 3}}));
    EXPECT_TRUE(admits(problem, {{"B", 8}, {"L", 100}}));
    EXPECT_FALSE(admits(problem, {{"B", 3}, {"L", 3}}));   // require
    EXPECT_FALSE(admits(problem, {{"B", 10}, {"L", 3}}));  // range
    EXPECT_FALSE(admits(problem, {{"B", 2}, {"L", 101}}));
    EXPECT_FALSE(admits(problem, {{"B", 2}, {"L", -1}}));
    EXPECT_FALSE(admits(problem, {{"B", 2}, {"L", 0}}));  // negative extent of y
    EXPECT_FALSE(admits(problem, {{"B", 2}}));            // no value
    EXPECT_TRUE(admits(problem, {{"B", 2}, {"L", 1}}));   // an empty y is no error
}

TEST(Describe, IsSortedAndShort) {
    EXPECT_EQ(describe(Dimensions{{"N", 128}, {"M", 64}}), "M=64,N=128");
    EXPECT_EQ(describe(Dimensions{}), "");
}

}  // namespace
}  // namespace strop
