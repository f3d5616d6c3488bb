// The meaning of every operation, by hand on small arrays. NumPy's word on whole computations is in the tests
// of the programs that are written for them.
#include "graph/interpreter.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/operations.h"

namespace strop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// x, then one node over it (and over what `more` holds before it).
std::vector<double> result_of(const Array& x, const std::string& node, const std::vector<std::string>& more = {},
                              const std::map<std::string, Array>& others = {}, Precision precision = Precision::exact) {
    std::string shape = fmt::format("{}", fmt::join(x.shape, ", "));
    std::string text = R"({"nodes": [{"family": "input", "op": "x", "shape": [)" + shape + "]}";
    for (const std::string& one : more) text += ", " + one;
    text += ", " + node + fmt::format(R"(], "outputs": [{}]}})", more.size() + 1);
    Arguments arguments{others, {{"N", int64_t{3}}, {"eps", 0.5}}};
    arguments.inputs["x"] = x;
    return interpret(parse_graph(text), arguments, precision)[0].values;
}

const Array matrix{{2, 3}, {1, 5, 5, -4, 2, -4}};

TEST(Operations, BothPrecisionsAgreeAndTheTableSaysWhatNaNDoes) {
    for (const Operation& operation : operations()) {
        if (!operation.in_double) continue;
        size_t count = operation.family == Family::pointwise ? static_cast<size_t>(operation.arity) : 2;
        for (const std::vector<double>& values : {std::vector<double>{0.75, 1.5, 0.25}, {1.25, -2, 0.5}, {0, 1, 0}}) {
            float narrow[3];
            for (size_t i = 0; i < 3; ++i) narrow[i] = static_cast<float>(values[i]);
            double wide = operation.in_double(values.data());
            if (std::isfinite(wide)) {
                EXPECT_NEAR(operation.in_float(narrow), wide, 1e-5 * (1 + std::fabs(wide))) << operation.name;
            }
            if (operation.commutative) {
                double swapped[2] = {values[1], values[0]};
                EXPECT_EQ(operation.in_double(swapped), wide) << operation.name;
            }
        }
        for (size_t place = 0; place < count; ++place) {
            double values[3] = {0.5, 0.5, 0.5};
            values[place] = NAN;
            bool passed = std::isnan(operation.in_double(values));
            bool truth = operation.result == Operation::Result::truth;
            EXPECT_TRUE(passed || !operation.passes_nan) << operation.name << " operand " << place;
            EXPECT_FALSE(passed && truth) << operation.name << " operand " << place;
        }
    }
}

TEST(Operations, FollowNumPyWhereCDiffers) {
    auto apply = [](const char* name, double a, double b) {
        double operands[] = {a, b};
        return find_operation(Family::pointwise, name)->in_double(operands);
    };
    EXPECT_EQ(apply("remainder", -7, 3), 2);
    EXPECT_EQ(apply("remainder", 7, -3), -2);
    EXPECT_EQ(apply("floor_divide", -7, 2), -4);
    EXPECT_EQ(apply("round", 2.5, 0), 2);
    EXPECT_TRUE(std::isnan(apply("maximum", 1, NAN)));
    EXPECT_EQ(find_operation(Family::pointwise, "cumsum"), nullptr);
    EXPECT_EQ(find_operation(Family::scan, "any"), nullptr);
}

TEST(Interpreter, ReducesOverAnyAxes) {
    auto reduce = [](const std::string& op, const std::string& axes, const std::string& shape,
                     const std::string& dtype = "float32") {
        return result_of(matrix, fmt::format(R"({{"family": "reduction", "op": "{}", "operands": [0], "axes": [{}],
                                             "shape": [{}], "dtype": "{}"}})",
                                             op, axes, shape, dtype));
    };
    EXPECT_THAT(reduce("sum", "0, 1", ""), ElementsAre(5));
    EXPECT_THAT(reduce("sum", "0", "3"), ElementsAre(-3, 7, 1));
    EXPECT_THAT(reduce("prod", "1", "2"), ElementsAre(25, 32));
    EXPECT_THAT(reduce("min", "1", "2"), ElementsAre(1, -4));
    EXPECT_THAT(reduce("argmax", "1", "2", "int64"), ElementsAre(1, 1));
    EXPECT_THAT(reduce("argmin", "1", "2", "int64"), ElementsAre(0, 0));
    EXPECT_THAT(reduce("any", "1", "2", "bool"), ElementsAre(1, 1));
    std::vector<double> first_nan =
        result_of({{4}, {1, NAN, 7, NAN}},
                  R"({"family": "reduction", "op": "argmax", "operands": [0], "axes": [0], "dtype": "int64"})");
    EXPECT_THAT(first_nan, ElementsAre(1));
}

TEST(Interpreter, ScansAndCounts) {
    EXPECT_THAT(result_of(matrix, R"({"family": "scan", "op": "sum", "operands": [0], "axes": [1], "shape": [2, 3]})"),
                ElementsAre(1, 6, 11, -4, -2, -6));
    EXPECT_THAT(result_of(matrix, R"({"family": "scan", "op": "max", "operands": [0], "axes": [0], "shape": [2, 3]})"),
                ElementsAre(1, 5, 5, 1, 5, 5));
    EXPECT_THAT(result_of(matrix, R"({"family": "iota", "axes": [1], "shape": [2, "N"], "dtype": "int64"})"),
                ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Interpreter, MovesElements) {
    auto layout = [](const std::string& attributes) {
        return result_of(matrix, R"({"family": "layout", "operands": [0], )" + attributes + "}");
    };
    EXPECT_THAT(layout(R"("op": "transpose", "axes": [1, 0], "shape": [3, 2])"), ElementsAre(1, -4, 5, 2, 5, -4));
    EXPECT_THAT(layout(R"("op": "reverse", "axes": [1], "shape": [2, 3])"), ElementsAre(5, 5, 1, -4, 2, -4));
    EXPECT_THAT(layout(R"("op": "slice", "begin": [1, 0], "end": [2, 3], "step": [1, 2], "shape": [1, 2])"),
                ElementsAre(-4, -4));
    EXPECT_THAT(layout(R"("op": "pad", "begin": [0, 1], "end": [1, 0], "pad_value": "inf", "shape": [3, 4])"),
                ElementsAre(INFINITY, 1, 5, 5, INFINITY, -4, 2, -4, INFINITY, INFINITY, INFINITY, INFINITY));
    EXPECT_THAT(layout(R"("op": "window", "axes": [1], "window": [2], "shape": [2, 2, 2])"),
                ElementsAre(1, 5, 5, 5, -4, 2, 2, -4));
    EXPECT_THAT(layout(R"("op": "broadcast", "shape": [2, 2, 3])"),
                ElementsAre(1, 5, 5, -4, 2, -4, 1, 5, 5, -4, 2, -4));
    EXPECT_THAT(result_of(matrix, R"({"family": "layout", "op": "concatenate", "operands": [0, 0], "axes": [1],
                                      "shape": [2, 6]})"),
                ElementsAre(1, 5, 5, 1, 5, 5, -4, 2, -4, -4, 2, -4));
}

TEST(Interpreter, Gathers) {
    std::string indices = R"({"family": "input", "op": "i", "shape": [2, 1], "dtype": "int64"})";
    std::map<std::string, Array> others = {{"i", {{2, 1}, {2, -3}}}};
    EXPECT_THAT(result_of(matrix, R"({"family": "gather", "op": "take", "operands": [0, 1], "axes": [1],
                                      "shape": [2, 2, 1]})",
                          {indices}, others),
                ElementsAre(5, 1, -4, -4));
    EXPECT_THAT(result_of(matrix, R"({"family": "gather", "op": "take_along", "operands": [0, 1], "axes": [1],
                                      "shape": [2, 1]})",
                          {indices}, others),
                ElementsAre(5, -4));
    others["i"].values = {3, 0};
    EXPECT_THROW(result_of(matrix, R"({"family": "gather", "op": "take_along", "operands": [0, 1], "axes": [1],
                                       "shape": [2, 1]})",
                           {indices}, others),
                 UsageError);
}

TEST(Interpreter, MultipliesAndConvolves) {
    std::string other = R"({"family": "input", "op": "w", "shape": [3, 2]})";
    EXPECT_THAT(result_of(matrix, R"({"family": "contraction", "op": "einsum", "operands": [0, 1],
                                      "labels": ["mk", "kn", "nm"], "shape": [2, 2]})",
                          {other}, {{"w", {{3, 2}, {1, 0, 0, 1, 1, 1}}}}),
                ElementsAre(6, -8, 10, -2));
    // Two groups of one channel; stride 2 over a row that is padded by 1.
    std::string filters = R"({"family": "input", "op": "w", "shape": [2, 1, 2]})";
    EXPECT_THAT(result_of({{1, 2, 3}, matrix.values},
                          R"({"family": "convolution", "operands": [0, 1], "stride": [2], "padding": [1],
                              "dilation": [1], "groups": 2, "shape": [1, 2, 2]})",
                          {filters}, {{"w", {{2, 1, 2}, {1, 10, 2, 3}}}}),
                ElementsAre(10, 55, -12, -8));
}

TEST(Interpreter, KeepsTheTypesOfTheNodesWhenAsked) {
    Array x{{1}, {0.1f}};
    std::string square = R"({"family": "pointwise", "op": "square", "operands": [0], "shape": [1]})";
    EXPECT_EQ(result_of(x, square)[0], double(0.1f) * 0.1f);
    EXPECT_EQ(result_of(x, square, {}, {}, Precision::stored)[0], double(0.1f * 0.1f));
    std::string byte = R"({"family": "pointwise", "op": "cast", "operands": [0], "shape": [1], "dtype": "uint8"})";
    EXPECT_EQ(result_of({{1}, {257.9}}, byte)[0], 1);
    std::string signed_byte =
        R"({"family": "pointwise", "op": "cast", "operands": [0], "shape": [1], "dtype": "int8"})";
    EXPECT_EQ(result_of({{1}, {-129.5}}, signed_byte)[0], 127);
}

TEST(Interpreter, NamesWhatIsMissing) {
    Graph graph = parse_graph(R"({"nodes": [{"family": "input", "op": "x", "shape": ["N"]}], "outputs": [0]})");
    try {
        interpret(graph, {{}, {{"N", int64_t{2}}}});
        FAIL() << "no error";
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no input 'x'"));
    }
    EXPECT_THROW(interpret(graph, {{{"x", {{3}, {1, 2, 3}}}}, {{"N", int64_t{2}}}}), UsageError);
    EXPECT_THROW(parse_graph(R"({"nodes": [{"family": "input", "op": "x", "shape": []},
                     {"family": "pointwise", "op": "nonsense", "operands": [0], "shape": []}], "outputs": [1]})"),
                 UsageError);
}

}  // namespace
}  // namespace strop
