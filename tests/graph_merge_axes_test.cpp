// Graphs whose axes were merged: the same values in the same order, over fewer axes.
#include "graph/merge_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/interpreter.h"

namespace strop {
namespace {

using testing::HasSubstr;
using testing::Not;

const Bindings sizes = {{"B", int64_t{2}}, {"C", int64_t{3}}, {"H", int64_t{2}}, {"W", int64_t{5}}};

Array filled(const std::vector<Expression>& shape) {
    Array array;
    for (const Expression& extent : shape) array.shape.push_back(extent.evaluate_integer(sizes));
    for (int64_t i = 0; i < element_count(array.shape); ++i)
        array.values.push_back(static_cast<double>((i * 37) % 101) / 10 - 4);
    return array;
}

// What it is after merging, and that its values stay: inputs lie in memory as before.
std::string merged(const std::string& nodes, int output) {
    const Graph graph = parse_graph("{\"nodes\": [" + nodes + "], \"outputs\": [" + std::to_string(output) + "]}");
    const Graph after = merge_axes(graph);
    std::vector<std::vector<double>> values;
    for (const Graph* one : {&graph, &after}) {
        Arguments arguments{{}, sizes};
        for (const Node& node : one->nodes)
            if (node.family == Family::input) arguments.inputs[node.op] = filled(node.shape);
        values.push_back(interpret(*one, arguments)[0].values);
    }
    EXPECT_EQ(values[0], values[1]);
    return describe(after);
}

const std::string x = R"({"family": "input", "op": "x", "shape": ["B", "C", "H", "W"]})";

TEST(MergeAxes, OfASumOverTheFirstAndTheLastAxes) {
    const std::string text = merged(x + R"(, {"family": "input", "op": "shift", "shape": ["C"]},
        {"family": "layout", "op": "reshape", "operands": [1], "shape": ["1", "C", "1", "1"]},
        {"family": "pointwise", "op": "subtract", "operands": [0, 2], "shape": ["B", "C", "H", "W"]},
        {"family": "reduction", "op": "sum", "operands": [3], "axes": [0, 2, 3], "shape": ["C"]})",
                                    4);
    EXPECT_THAT(text, HasSubstr("input x : [B, C, H*W]"));
    EXPECT_THAT(text, HasSubstr("reduction sum(3) axes=[0, 2]"));
}

TEST(MergeAxes, OfAxesThatAKeptReductionLeaves) {
    const std::string text = merged(x + R"(, {"family": "reduction", "op": "max", "operands": [0], "axes": [2, 3],
          "keepdims": true, "shape": ["B", "C", "1", "1"]},
        {"family": "pointwise", "op": "subtract", "operands": [0, 1], "shape": ["B", "C", "H", "W"]})",
                                    2);
    EXPECT_THAT(text, HasSubstr("input x : [B*C, H*W]"));
}

TEST(MergeAxes, OfTransposedPairs) {
    const std::string text =
        merged(x + R"(, {"family": "layout", "op": "transpose", "operands": [0], "axes": [2, 3, 0, 1],
          "shape": ["H", "W", "B", "C"]},
        {"family": "pointwise", "op": "negative", "operands": [1], "shape": ["H", "W", "B", "C"]})",
               2);
    EXPECT_THAT(text, HasSubstr("input x : [B*C, H*W]"));
}

TEST(MergeAxes, NotOfWhatSomeValueHasAlone) {
    for (const char* alone : {R"(["H", "1"])", R"(["W"])", R"(["C", "1", "W"])"})
        EXPECT_THAT(merged(x + R"(, {"family": "input", "op": "z", "shape": )" + alone + R"(},
            {"family": "pointwise", "op": "add", "operands": [0, 1], "shape": ["B", "C", "H", "W"]})",
                           2),
                    Not(HasSubstr("H*W")))
            << alone;
}

TEST(MergeAxes, NotOfAnAxisAlongWhichPlacesCount) {
    const std::string text = merged(x + R"(, {"family": "reduction", "op": "argmax", "operands": [0], "axes": [2],
          "dtype": "int64", "shape": ["B", "C", "W"]})",
                                    1);
    EXPECT_THAT(text, HasSubstr("input x : [B*C, H, W]"));
}

TEST(MergeAxes, NotOfWhatReadsOneValueAlongTwoAxes) {
    const std::string text = merged(x + R"(, {"family": "layout", "op": "reshape", "operands": [0],
          "shape": ["B", "1", "C", "H", "W"]},
        {"family": "pointwise", "op": "subtract", "operands": [0, 1], "shape": ["B", "B", "C", "H", "W"]})",
                                    2);
    EXPECT_THAT(text, HasSubstr("input x : [B, C, H, W]"));
}

TEST(MergeAxes, OtherOperationsStayAsTheyAre) {
    const std::string text = merged(x + R"(, {"family": "scan", "op": "sum", "operands": [0], "axes": [3],
          "shape": ["B", "C", "H", "W"]})",
                                    1);
    EXPECT_THAT(text, HasSubstr("input x : [B, C, H, W]"));
}

}  // namespace
}  // namespace strop
