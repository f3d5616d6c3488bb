// References in C++ as kernels, in the declared types and in float64.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/reference_kernel.h"

namespace strop {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Problem scaled() {
    Problem problem;
    problem.name = problem.function = "scaled";
    problem.reference = "/p/slow.cpp";
    problem.inputs = {{.name = "x"}};
    problem.outputs = {{.name = "y"}, {.name = "n", .dtype = DType::int32}};
    problem.parameters = {{.name = "w"}};
    problem.dimensions = {"N"};
    return problem;
}

std::string wide(const std::string& text) {
    const std::string all = reference_in_float64(scaled(), text);
    return all.substr(all.find(");\n") + 3);
}

TEST(ReferenceKernel, FloatsBecomeDoublesAsTokens) {
    EXPECT_EQ(wide("float a = std::max(0.0f, expf(x[0])) + 1e-3F * FLT_MAX - .5f;"),
              "double a = std::max(0.0, exp(x[0])) + 1e-3 * DBL_MAX - .5;");
    EXPECT_EQ(wide("std::numeric_limits<float>::max(); _Float16 h; my_float f; int buf, diff, elf;"),
              "std::numeric_limits<double>::max(); _Float16 h; my_float f; int buf, diff, elf;");
}

TEST(ReferenceKernel, WhatIsNoFloatStays) {
    for (const char* text : {"int i = 0xff + 0x1F + 0xe-1;", "// a float 0.5f", "puts(\"float 1.0f\");", "FLT_RADIX",
                             "1'000'000", "x.f", "(a)-f"})
        EXPECT_EQ(wide(text), text);
    EXPECT_EQ(wide("0x1p-3f + 1'0.5f"), "0x1p-3 + 1'0.5");
}

TEST(ReferenceKernel, HasTheProblemsFunction) {
    EXPECT_THAT(reference_in_float64(scaled(), ""),
                HasSubstr("extern \"C\" void scaled(const double* x, double* y, int32_t* n, double w, int64_t N);"));
    Problem other = scaled();
    other.function = "inner";
    EXPECT_THAT(reference_as_kernel(other, "text"),
                EndsWith("text\nextern \"C\" void scaled(const float* x, float* y, int32_t* n, float w, int64_t N) { "
                         "inner(x, y, n, w, N); }\n"));
}

TEST(ReferenceKernel, ItsOwnChoiceIsLeftAlone) {
    EXPECT_EQ(wide("STROP_REAL a = 0.1f; float b;"), "STROP_REAL a = 0.1f; float b;");
    EXPECT_THAT(reference_in_float64(scaled(), "STROP_REAL a;"), HasSubstr("#define STROP_REAL double\n"));
    EXPECT_THAT(reference_as_kernel(scaled(), "STROP_REAL a;"), HasSubstr("#define STROP_REAL float\n"));
}

}  // namespace
}  // namespace strop
