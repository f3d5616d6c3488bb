#include "graph/graph.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<Expression> shape_of(const std::string& text) {
    std::vector<Expression> shape;
    for (const std::string& extent : split(text, ' '))
        if (!extent.empty()) shape.push_back(Expression::parse(extent));
    return shape;
}

// Builds graphs as the tracer would, node by node. Shapes are extents between blanks.
class Sketch {
public:
    int add(Node node, const std::string& shape, std::vector<int> operands) {
        node.id = static_cast<int>(graph_.nodes.size());
        node.shape = shape_of(shape);
        node.operands = std::move(operands);
        graph_.nodes.push_back(std::move(node));
        return graph_.nodes.back().id;
    }
    int input(const std::string& name, const std::string& shape) {
        return add({.family = Family::input, .op = name}, shape, {});
    }
    int parameter(const std::string& name) { return add({.family = Family::parameter, .op = name}, "", {}); }
    int constant(double value) { return add({.family = Family::constant, .value = value}, "", {}); }
    int extent(const std::string& text) {
        return add({.family = Family::constant, .dim = Expression::parse(text)}, "", {});
    }
    int pointwise(const std::string& op, const std::string& shape, std::vector<int> operands) {
        return add({.family = Family::pointwise, .op = op}, shape, std::move(operands));
    }
    int reduce(const std::string& op, const std::string& shape, int x, std::vector<int> axes, bool keepdims) {
        return add({.family = Family::reduction, .op = op, .axes = std::move(axes), .keepdims = keepdims}, shape, {x});
    }
    int layout(const std::string& op, const std::string& shape, int x, std::vector<int> axes = {}) {
        return add({.family = Family::layout, .op = op, .axes = std::move(axes)}, shape, {x});
    }
    int slice(const std::string& shape, int x, const std::string& begin, const std::string& end,
              const std::string& step) {
        return add({.family = Family::layout,
                    .op = "slice",
                    .begin = shape_of(begin),
                    .end = shape_of(end),
                    .step = shape_of(step)},
                   shape, {x});
    }
    int pad(const std::string& shape, int x, const std::string& begin, const std::string& end, double value = 0) {
        return add(
            {.family = Family::layout, .op = "pad", .begin = shape_of(begin), .end = shape_of(end), .pad_value = value},
            shape, {x});
    }
    int window(const std::string& shape, int x, std::vector<int> axes, const std::string& window) {
        return add({.family = Family::layout, .op = "window", .axes = std::move(axes), .window = shape_of(window)},
                   shape, {x});
    }
    int contract(const std::string& shape, int a, int b, std::vector<std::string> labels) {
        return add({.family = Family::contraction, .op = "einsum", .labels = std::move(labels)}, shape, {a, b});
    }
    Graph graph(std::vector<int> outputs) const {
        Graph result = graph_;
        result.outputs = std::move(outputs);
        return result;
    }
    std::string simplified(int output) const { return describe(simplify(graph({output}))); }

private:
    Graph graph_;
};

// The simplified form of one expression over x [M, N], y [M, N], v [N], row [M, 1] and parameter p.
struct Operands : Sketch {
    int x = input("x", "M N"), y = input("y", "M N"), v = input("v", "N"), row = input("row", "M 1");
    int p = parameter("p");
    int op(const std::string& name, std::vector<int> operands, const std::string& shape = "M N") {
        return pointwise(name, shape, std::move(operands));
    }
};

std::string untraced(const std::string& json) {
    try {
        parse_graph(json);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "no error";
}

// ---- reading -----------------------------------------------------------------------------------------

TEST(Graph, ReadsEveryAttribute) {
    Graph graph = parse_graph(R"({"nodes": [
        {"family": "input", "op": "x", "operands": [], "shape": ["B", "C", "H", 7], "dtype": "float64"},
        {"family": "input", "op": "w", "shape": ["K", "C//groups", "R", "3"], "dtype": "float32"},
        {"family": "constant", "value": "-inf", "shape": [], "dtype": "float32"},
        {"family": "constant", "dim": "H*7", "shape": [], "dtype": "int64"},
        {"family": "layout", "op": "pad", "operands": [0], "shape": ["B", "C", "H+2*p", "7"],
         "begin": ["0", 0, "p", 0], "end": ["0", "0", "p", "0"], "pad_value": "nan"},
        {"family": "convolution", "operands": [0, 1], "shape": ["B", "K", "H-R+1", "5"], "stride": ["s", "1"],
         "padding": ["0", "0"], "dilation": ["1", "1"], "groups": "groups"},
        {"family": "layout", "op": "window", "operands": [0], "axes": [2], "window": ["R"],
         "shape": ["B", "C", "H-R+1", "7", "R"]},
        {"family": "reduction", "op": "sum", "operands": [0], "axes": [1, 3], "keepdims": true,
         "shape": ["B", "1", "H", "1"]}],
        "outputs": [5, 7]})");
    ASSERT_EQ(graph.nodes.size(), 8u);
    EXPECT_EQ(graph.at(0).dtype, DType::float64);
    EXPECT_EQ(graph.at(1).shape[1], Expression::parse("C//groups"));
    EXPECT_TRUE(std::isinf(graph.at(2).value) && graph.at(2).value < 0);
    EXPECT_EQ(graph.at(3).dim->text(), "H*7");
    EXPECT_TRUE(std::isnan(graph.at(4).pad_value));
    EXPECT_EQ(graph.at(5).groups.text(), "groups");
    EXPECT_EQ(graph.at(6).window[0].text(), "R");
    EXPECT_TRUE(graph.at(7).keepdims);
    EXPECT_THAT(graph.outputs, ElementsAre(5, 7));
    EXPECT_THAT(graph.users(0), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(graph.users(7), ElementsAre());
}

TEST(Graph, UntraceableIsKept) {
    Graph graph = parse_graph(R"({"untraceable": "'np.linalg.inv' has no graph operation"})");
    EXPECT_EQ(graph.untraceable, "'np.linalg.inv' has no graph operation");
    EXPECT_EQ(simplify(graph).untraceable, graph.untraceable);
    EXPECT_THAT(describe(graph), HasSubstr("np.linalg.inv"));
    EXPECT_FALSE(parse_graph(R"({"untraceable": ""})").untraceable.empty());
}

TEST(Graph, MalformedDocumentsAreErrors) {
    const std::string x = R"({"family": "input", "op": "x", "shape": ["M", "N"]})";
    auto with = [&](const std::string& node) { return R"({"nodes": [)" + x + ", " + node + R"(], "outputs": [1]})"; };
    EXPECT_THAT(untraced("{"), HasSubstr("malformed"));
    EXPECT_THAT(untraced("{}"), HasSubstr("malformed"));
    EXPECT_THAT(untraced("[]"), HasSubstr("malformed"));
    EXPECT_THAT(untraced(R"({"nodes": [], "outputs": [0]})"), HasSubstr("output 0"));
    EXPECT_THAT(untraced(with(R"({"family": "magic"})")), HasSubstr("unknown family 'magic'"));
    EXPECT_THAT(untraced(with(R"({"family": "pointwise", "op": "exp", "operands": [1], "shape": []})")),
                HasSubstr("node 1: operand 1"));
    EXPECT_THAT(untraced(with(R"({"family": "pointwise", "op": "exp", "operands": [-1], "shape": []})")),
                HasSubstr("operand -1"));
    EXPECT_THAT(untraced(with(R"({"family": "pointwise", "op": "exp", "shape": []})")), HasSubstr("0 operands"));
    EXPECT_THAT(untraced(with(R"({"family": "pointwise", "op": "exp", "operands": [0], "dtype": "half"})")),
                HasSubstr("unknown dtype 'half'"));
    EXPECT_THAT(untraced(with(R"({"family": "pointwise", "op": "exp", "operands": [0], "shape": ["M+"]})")),
                HasSubstr("M+"));
    EXPECT_THAT(untraced(with(R"({"family": "reduction", "op": "sum", "operands": [0], "axes": [2]})")),
                HasSubstr("axis 2"));
    EXPECT_THAT(
        untraced(with(R"({"family": "contraction", "operands": [0, 0], "labels": ["ab", "b", "a"], "shape": ["M"]})")),
        HasSubstr("labels"));
    EXPECT_THAT(untraced(with(R"({"family": "contraction", "operands": [0], "labels": ["ab", "b", "a"]})")),
                HasSubstr("1 operands"));
    EXPECT_THAT(untraced(with(R"({"family": "layout", "op": "transpose", "operands": [0], "axes": [0, 0]})")),
                HasSubstr("permutation"));
    EXPECT_THAT(untraced(with(R"({"family": "layout", "op": "slice", "operands": [0], "begin": ["0"]})")),
                HasSubstr("slice"));
    EXPECT_THAT(untraced(with(R"({"family": "constant", "value": "many", "shape": []})")), HasSubstr("many"));
}

TEST(Graph, FamiliesHaveNames) {
    for (int i = 0; i <= static_cast<int>(Family::gather); ++i) {
        Family family = static_cast<Family>(i);
        EXPECT_EQ(parse_family(name_of(family)), family);
    }
    EXPECT_EQ(parse_family("gathering"), std::nullopt);
}

// ---- pointwise spelling ------------------------------------------------------------------------------

// Pairs of formulas that must become one, and what that is.
TEST(Simplify, PointwiseSpellings) {
    Operands s;
    int one = s.constant(1), two = s.constant(2), half = s.constant(0.5);
    struct Case {
        int left, right;
    };
    const std::vector<Case> cases = {
        {s.op("multiply", {s.x, s.x}), s.op("square", {s.x})},
        {s.op("power", {s.x, two}), s.op("square", {s.x})},
        {s.op("power", {s.x, half}), s.op("sqrt", {s.x})},
        {s.op("power", {s.x, s.constant(-0.5)}), s.op("rsqrt", {s.x})},
        {s.op("power", {s.x, s.constant(-1)}), s.op("reciprocal", {s.x})},
        {s.op("power", {s.x, s.constant(3)}), s.op("multiply", {s.op("multiply", {s.x, s.x}), s.x})},
        {s.op("divide", {one, s.x}), s.op("reciprocal", {s.x})},
        {s.op("divide", {s.x, two}), s.op("multiply", {half, s.x})},
        {s.op("divide", {s.x, s.p}), s.op("multiply", {s.x, s.op("reciprocal", {s.p}, "")})},
        {s.op("multiply", {s.x, s.op("reciprocal", {s.y})}), s.op("divide", {s.x, s.y})},
        {s.op("multiply", {s.op("rsqrt", {s.y}), s.x}), s.op("divide", {s.x, s.op("sqrt", {s.y})})},
        {s.op("divide", {s.x, s.op("reciprocal", {s.y})}), s.op("multiply", {s.y, s.x})},
        {s.op("subtract", {s.x, half}), s.op("add", {s.constant(-0.5), s.x})},
        {s.op("add", {s.x, s.op("negative", {s.y})}), s.op("subtract", {s.x, s.y})},
        {s.op("negative", {s.op("subtract", {s.x, s.y})}), s.op("subtract", {s.y, s.x})},
        {s.op("multiply", {s.x, s.constant(-1)}), s.op("negative", {s.x})},
        {s.op("add", {s.x, s.y}), s.op("add", {s.y, s.x})},
        {s.op("multiply", {s.v, s.x}), s.op("multiply", {s.x, s.v})},
        {s.op("multiply", {s.op("multiply", {half, s.x}), s.y}),
         s.op("multiply", {s.x, s.op("multiply", {s.y, half})})},
        {s.op("divide", {s.op("multiply", {s.x, two}), s.y}), s.op("multiply", {two, s.op("divide", {s.x, s.y})})},
        {s.op("multiply", {s.op("multiply", {half, s.x}), two}), s.x},
        {s.op("add", {s.op("add", {s.x, one}), s.constant(-1)}), s.x},
        {s.op("negative", {s.op("negative", {s.x})}), s.x},
        {s.op("multiply", {s.x, s.op("sqrt", {s.constant(4)}, "")}), s.op("multiply", {two, s.x})},
        {s.op("add", {s.layout("broadcast", "M N", s.v), s.x}), s.op("add", {s.x, s.v})},
        {s.op("add", {s.layout("reshape", "1 N", s.v), s.x}), s.op("add", {s.x, s.v})},
        {s.op("cast", {s.x}), s.x},
    };
    for (const Case& entry : cases) EXPECT_EQ(s.simplified(entry.left), s.simplified(entry.right));
}

TEST(Simplify, DifferentValuesStayApart) {
    Operands s;
    const std::vector<std::pair<int, int>> cases = {
        {s.op("subtract", {s.x, s.y}), s.op("subtract", {s.y, s.x})},
        {s.op("divide", {s.x, s.y}), s.op("divide", {s.y, s.x})},
        {s.op("multiply", {s.x, s.constant(0)}), s.constant(0)},  // NaN and infinities
        {s.op("subtract", {s.x, s.x}), s.constant(0)},
        {s.op("divide", {s.x, s.x}), s.constant(1)},
        {s.op("add", {s.x, s.constant(1e-5)}), s.x},
        {s.op("multiply", {s.row, s.constant(1)}, "M 1"), s.op("multiply", {s.row, s.x})},
        {s.op("less", {s.x, s.y}), s.op("less", {s.y, s.x})},
        {s.op("power", {s.x, s.constant(2.5)}), s.op("square", {s.x})},
    };
    for (const auto& [left, right] : cases) EXPECT_NE(s.simplified(left), s.simplified(right));
}

TEST(Simplify, DivisionByAVectorStays) {
    Operands s;
    EXPECT_THAT(s.simplified(s.op("divide", {s.x, s.op("sqrt", {s.row}, "M 1")})), HasSubstr("divide"));
}

TEST(Simplify, WhatDecidesIsComputedAsItIsWritten) {
    for (const char* decision : {"floor", "round", "sin"}) {
        Operands s;
        const int quotient = s.op("divide", {s.op("multiply", {s.x, s.constant(3)}), s.constant(7)});
        EXPECT_THAT(s.simplified(quotient), Not(HasSubstr("divide")));
        EXPECT_THAT(s.simplified(s.op(decision, {quotient})), HasSubstr("divide")) << decision;
        // An exponential's last digits are nobody's.
        EXPECT_THAT(s.simplified(s.op(decision, {s.op("exp", {quotient})})), Not(HasSubstr("divide"))) << decision;
        // Half of a value is the same either way.
        const int half = s.op("divide", {s.x, s.constant(2)});
        EXPECT_THAT(s.simplified(s.op(decision, {half})), Not(HasSubstr("divide"))) << decision;
    }
}

TEST(Simplify, IntegersAreNotTurnedIntoFractions) {
    Sketch s;
    Node x{.family = Family::input, .op = "x", .dtype = DType::int64};
    int id = s.add(x, "N", {});
    Node three{.family = Family::constant, .dtype = DType::int64, .value = 3};
    int c = s.add(three, "", {});
    Node quotient{.family = Family::pointwise, .op = "floor_divide", .dtype = DType::int64};
    int result = s.add(quotient, "N", {id, c});
    EXPECT_THAT(s.simplified(result), HasSubstr("floor_divide(0, 1) : [N] int64"));
}

TEST(Simplify, BroadcastThatGivesTheShapeStays) {
    Operands s;
    std::string text = s.simplified(s.op("exp", {s.layout("broadcast", "M N", s.v)}));
    EXPECT_THAT(text, HasSubstr("layout broadcast"));
    EXPECT_THAT(s.simplified(s.layout("broadcast", "M N", s.x)), Not(HasSubstr("broadcast")));
}

TEST(Simplify, DropsWhatNobodyUsesAndMergesTwins) {
    Operands s;
    s.op("exp", {s.y});
    int a = s.op("exp", {s.x}), b = s.op("exp", {s.x});
    Graph graph = simplify(s.graph({s.op("add", {a, b}), b}));
    EXPECT_EQ(graph.nodes.size(), 3u);
    EXPECT_THAT(graph.outputs, ElementsAre(2, 1));
    for (const Node& node : graph.nodes) EXPECT_NE(node.op, "y");
}

TEST(Simplify, ExtentsThatAreNumbersBecomeConstants) {
    Operands s;
    std::string text = s.simplified(s.op("divide", {s.x, s.extent("4")}));
    EXPECT_THAT(text, HasSubstr("constant 0.25"));
}

// ---- reductions --------------------------------------------------------------------------------------

std::string softmax(bool keepdims, bool reciprocal, bool broadcast) {
    Sketch s;
    int x = s.input("x", "M N");
    auto row = [&](const std::string& op, int value) {
        int reduced = s.reduce(op, keepdims ? "M 1" : "M", value, {1}, keepdims);
        if (!keepdims) reduced = s.layout("reshape", "M 1", reduced);
        return broadcast ? s.layout("broadcast", "M N", reduced) : reduced;
    };
    int e = s.pointwise("exp", "M N", {s.pointwise("subtract", "M N", {x, row("max", x)})});
    int sum = row("sum", e);
    if (!reciprocal) return s.simplified(s.pointwise("divide", "M N", {e, sum}));
    std::string shape = broadcast ? "M N" : "M 1";
    int inverse = s.pointwise("divide", shape, {s.constant(1), sum});
    return s.simplified(s.pointwise("multiply", "M N", {inverse, e}));
}

TEST(Simplify, SoftmaxSpellingsMeet) {
    const std::string expected =
        "0 = input x : [M, N]\n"
        "1 = reduction max(0) axes=[1] keepdims : [M, 1]\n"
        "2 = pointwise subtract(0, 1) : [M, N]\n"
        "3 = pointwise exp(2) : [M, N]\n"
        "4 = reduction sum(3) axes=[1] keepdims : [M, 1]\n"
        "5 = pointwise divide(3, 4) : [M, N]\n"
        "outputs: 5\n";
    for (bool keepdims : {true, false})
        for (bool reciprocal : {true, false})
            for (bool broadcast : {true, false})
                EXPECT_EQ(softmax(keepdims, reciprocal, broadcast), expected) << keepdims << reciprocal << broadcast;
}

TEST(Simplify, SoftmaxOfATransposeIsOneOverTheOtherAxis) {
    Sketch s;
    int t = s.layout("transpose", "N M", s.input("x", "M N"), {1, 0});
    int max = s.reduce("max", "M", t, {0}, false);
    int e = s.pointwise("exp", "N M", {s.pointwise("subtract", "N M", {t, max})});
    int y = s.pointwise("divide", "N M", {e, s.reduce("sum", "1 M", e, {0}, true)});
    EXPECT_EQ(s.simplified(s.layout("transpose", "M N", y, {1, 0})), softmax(true, false, false));
}

TEST(Simplify, MeanWithAndWithoutKeepdimsMeet) {
    auto centred = [](bool keepdims) {
        Sketch s;
        int x = s.input("x", "M N");
        int sum = s.reduce("sum", keepdims ? "M 1" : "M", x, {1}, keepdims);
        int mean = s.pointwise("divide", keepdims ? "M 1" : "M", {sum, s.extent("N")});
        if (!keepdims) mean = s.layout("reshape", "M 1", mean);
        return s.simplified(s.pointwise("subtract", "M N", {x, mean}));
    };
    EXPECT_EQ(centred(true), centred(false));
    EXPECT_THAT(centred(true), HasSubstr("reduction sum(0) axes=[1] keepdims : [M, 1]"));
    EXPECT_THAT(centred(true), Not(HasSubstr("reshape")));
}

TEST(Simplify, LogsumexpSpellingsMeet) {
    auto logsumexp = [](bool keepdims) {
        Sketch s;
        int x = s.input("x", "M N");
        int max = s.reduce("max", keepdims ? "M 1" : "M", x, {1}, keepdims);
        int wide = keepdims ? max : s.layout("reshape", "M 1", max);
        int e = s.pointwise("exp", "M N", {s.pointwise("subtract", "M N", {x, wide})});
        std::string row = keepdims ? "M 1" : "M";
        int log = s.pointwise("log", row, {s.reduce("sum", row, e, {1}, keepdims)});
        int y = s.pointwise("add", row, {log, max});
        return s.simplified(keepdims ? s.layout("reshape", "M", y) : y);
    };
    EXPECT_EQ(logsumexp(true), logsumexp(false));
    // The maximum is computed once.
    EXPECT_EQ(split(logsumexp(false), '\n').size(), 10u);
}

TEST(Simplify, ReductionOverATransposeKeepsItsOrder) {
    Sketch s;
    int t = s.layout("transpose", "C A B", s.input("x", "A B C"), {2, 0, 1});
    std::string text = s.simplified(s.reduce("sum", "C B", t, {1}, false));
    EXPECT_THAT(text, HasSubstr("reduction sum(0) axes=[0] : [B, C]"));
    EXPECT_THAT(text, HasSubstr("transpose(1) axes=[1, 0] : [C, B]"));
}

// ---- layout and contractions ---------------------------------------------------------------------------

TEST(Simplify, LayoutThatChangesNothingGoes) {
    Sketch s;
    int x = s.input("x", "M N");
    std::string bare = s.simplified(x);
    EXPECT_EQ(s.simplified(s.layout("reshape", "M N", s.layout("reshape", "M*N", x))), bare);
    EXPECT_EQ(s.simplified(s.layout("transpose", "M N", s.layout("transpose", "N M", x, {1, 0}), {1, 0})), bare);
    EXPECT_EQ(s.simplified(s.slice("M N", x, "0 0", "M N", "1 1")), bare);
    EXPECT_EQ(s.simplified(s.pad("M N", x, "0 0", "0 0")), bare);
    EXPECT_EQ(s.simplified(s.layout("reverse", "M N", s.layout("reverse", "M N", x, {1}), {1})), bare);
    EXPECT_EQ(s.simplified(s.layout("concatenate", "M N", x, {0})), bare);
    EXPECT_NE(s.simplified(s.layout("reverse", "M N", s.layout("reverse", "M N", x, {1}), {0})), bare);
}

TEST(Simplify, TransposeOfAUnitAxisMovesNothing) {
    Sketch s;
    std::string text = s.simplified(s.layout("transpose", "1 M", s.input("x", "M 1"), {1, 0}));
    EXPECT_THAT(text, HasSubstr("layout reshape(0) : [1, M]"));
}

TEST(Simplify, SlicesOfSlicesJoin) {
    Sketch s;
    int x = s.input("x", "M N");
    int rows = s.slice("M-1 N", x, "1 0", "M N", "1 1");
    EXPECT_THAT(s.simplified(s.slice("M-1 N//2", rows, "0 0", "M-1 N", "1 2")),
                HasSubstr("slice(0) begin=[1, 0] end=[M, N] step=[1, 2]"));
    EXPECT_THAT(s.simplified(s.slice("M-2 N", rows, "1 0", "M-1 N", "1 1")),
                HasSubstr("slice(0) begin=[2, 0] end=[M, N] step=[1, 1]"));
    EXPECT_THAT(s.simplified(s.slice("3 N", rows, "1 0", "4 N", "1 1")),
                HasSubstr("slice(0) begin=[2, 0] end=[5, N] step=[1, 1]"));
    // Two cuts of one axis with gaps stay two.
    EXPECT_THAT(s.simplified(s.slice("(M-1)//2 N", rows, "1 0", "M-1 N", "2 1")), HasSubstr("slice(1)"));
}

TEST(Simplify, ContractionsAbsorbTransposes) {
    Sketch s;
    int x = s.input("x", "M K"), w = s.input("w", "N K");
    int product = s.contract("M N", x, s.layout("transpose", "K N", w, {1, 0}), {"mk", "kn", "mn"});
    EXPECT_THAT(s.simplified(product), HasSubstr("contraction einsum(0, 1) ab,cb->ac : [M, N]"));
    std::string transposed = s.simplified(s.layout("transpose", "N M", product, {1, 0}));
    EXPECT_THAT(transposed, HasSubstr("ab,cb->ca : [N, M]"));
    EXPECT_THAT(transposed, Not(HasSubstr("transpose")));
}

// ---- convolutions ------------------------------------------------------------------------------------

struct ConvolutionForm {
    bool padded = true, strided = true, dilated = false;
    std::string end = "0 0 p p";
    double pad_value = 0;
};

// x [N, C, H, W] and w [K, C, R, S] through pad, window and slices, contracted to `result`.
std::string convolve(const ConvolutionForm& form, const std::string& result, const std::string& shape) {
    Sketch s;
    int x = s.input("x", "N C H W");
    if (form.padded) x = s.pad("N C H+2*p W+2*p", x, "0 0 p p", form.end, form.pad_value);
    int v = s.window("N C A B R S", x, {2, 3}, "R S");
    if (form.strided) v = s.slice("N C P Q R S", v, "0 0 0 0 0 0", "N C A B R S", "1 1 t t 1 1");
    if (form.dilated) v = s.slice("N C P Q R S", v, "0 0 0 0 0 0", "N C P Q R S", "1 1 1 1 d d");
    return s.simplified(s.contract(shape, v, s.input("w", "K C R S"), {"nchwrs", "kcrs", result}));
}

TEST(Convolution, PadWindowStrideEinsum) {
    EXPECT_EQ(convolve({}, "nkhw", "N K P Q"),
              "0 = input x : [N, C, H, W]\n"
              "1 = input w : [K, C, R, S]\n"
              "2 = convolution(0, 1) stride=[t, t] padding=[p, p] dilation=[1, 1] : [N, K, P, Q]\n"
              "outputs: 2\n");
}

TEST(Convolution, PartsMayBeAbsent) {
    EXPECT_THAT(convolve({.padded = false}, "nkhw", "N K P Q"),
                HasSubstr("convolution(0, 1) stride=[t, t] padding=[0, 0]"));
    EXPECT_THAT(convolve({.strided = false}, "nkhw", "N K A B"),
                HasSubstr("convolution(0, 1) stride=[1, 1] padding=[p, p]"));
    EXPECT_THAT(convolve({.dilated = true}, "nkhw", "N K P Q"), HasSubstr("dilation=[d, d]"));
}

TEST(Convolution, OtherResultOrdersAreTransposed) {
    std::string text = convolve({}, "nhwk", "N P Q K");
    EXPECT_THAT(text, HasSubstr("= convolution(0, 1)"));
    EXPECT_THAT(text, HasSubstr("transpose(2) axes=[0, 2, 3, 1] : [N, P, Q, K]"));
}

TEST(Convolution, OddPaddingStaysOutside) {
    for (const ConvolutionForm& form :
         {ConvolutionForm{.end = "0 0 0 0"}, ConvolutionForm{.pad_value = 1}, ConvolutionForm{.end = "0 0 p 1"}}) {
        std::string text = convolve(form, "nkhw", "N K P Q");
        EXPECT_THAT(text, HasSubstr("layout pad(0)"));
        EXPECT_THAT(text, HasSubstr("padding=[0, 0]"));
    }
}

TEST(Convolution, GroupsBySplitChannels) {
    Sketch s;
    int v = s.window("N C P Q R S", s.input("x", "N C H W"), {2, 3}, "R S");
    int windows = s.layout("reshape", "N g C//g P Q R S", v);
    int w = s.layout("reshape", "g K//g C//g R S", s.input("w", "K C//g R S"));
    int y = s.contract("N g K//g P Q", windows, w, {"ngcpqrs", "gkcrs", "ngkpq"});
    EXPECT_EQ(s.simplified(s.layout("reshape", "N K P Q", y)),
              "0 = input x : [N, C, H, W]\n"
              "1 = input w : [K, C//g, R, S]\n"
              "2 = convolution(0, 1) stride=[1, 1] padding=[0, 0] dilation=[1, 1] groups=g : [N, K, P, Q]\n"
              "outputs: 2\n");
}

TEST(Convolution, DepthwiseHasAsManyGroupsAsChannels) {
    Sketch s;
    int v = s.window("N C P Q R S", s.input("x", "N C H W"), {2, 3}, "R S");
    std::string text = s.simplified(s.contract("N C P Q", v, s.input("w", "C R S"), {"nchwrs", "crs", "nchw"}));
    EXPECT_THAT(text, HasSubstr("layout reshape(1) : [C, 1, R, S]"));
    EXPECT_THAT(text, HasSubstr("groups=C : [N, C, P, Q]"));
}

TEST(Convolution, ChannelsInGroupsOfOne) {
    Sketch s;
    int v = s.window("N 8 P Q R S", s.input("x", "N 8 H W"), {2, 3}, "R S");
    int windows = s.layout("reshape", "N 8 1 P Q R S", v);
    int w = s.layout("reshape", "8 2 1 R S", s.input("w", "16 1 R S"));
    int y = s.contract("N 8 2 P Q", windows, w, {"ngcpqrs", "gkcrs", "ngkpq"});
    EXPECT_THAT(s.simplified(s.layout("reshape", "N 16 P Q", y)),
                HasSubstr("= convolution(0, 1) stride=[1, 1] padding=[0, 0] dilation=[1, 1] groups=8 : [N, 16, P, Q]"));
}

TEST(Convolution, Im2colMatrixProduct) {
    Sketch s;
    int v = s.window("N C P Q R S", s.input("x", "N C H W"), {2, 3}, "R S");
    int moved = s.layout("transpose", "N P Q C R S", v, {0, 2, 3, 1, 4, 5});
    int rows = s.layout("reshape", "Q*N*P C*R*S", moved);
    int filters = s.layout("reshape", "K R*S*C", s.input("w", "K C R S"));
    int y = s.contract("Q*N*P K", rows, filters, {"mk", "nk", "mn"});
    int back = s.layout("transpose", "N K P Q", s.layout("reshape", "N P Q K", y), {0, 3, 1, 2});
    EXPECT_EQ(s.simplified(back), convolve({.padded = false, .strided = false}, "nkhw", "N K P Q"));
}

TEST(Convolution, OneAxisWithoutBatchOrChannels) {
    Sketch s;
    int v = s.window("P R", s.input("x", "L"), {0}, "R");
    std::string text = s.simplified(s.contract("K P", v, s.input("w", "K R"), {"pr", "kr", "kp"}));
    EXPECT_THAT(text, HasSubstr("layout reshape(0) : [1, 1, L]"));
    EXPECT_THAT(text, HasSubstr("stride=[1] padding=[0] dilation=[1] : [1, K, P]"));
    EXPECT_THAT(text, HasSubstr(" : [K, P]"));
}

TEST(Convolution, ExtentsThatAreNumbersStayWhatTheyAre) {
    Sketch s;  // 28 // 16 is 1, and 16 filters are no 28
    int v = s.window("N 6 24 24 5 5", s.input("x", "N 6 28 28"), {2, 3}, "5 5");
    std::string text = s.simplified(s.contract("N 16 24 24", v, s.input("w", "16 6 5 5"), {"nchwrs", "kcrs", "nkhw"}));
    EXPECT_THAT(text, HasSubstr("dilation=[1, 1] : [N, 16, 24, 24]\n"));
}

TEST(Convolution, WindowsThatStartElsewhereAreNone) {
    Sketch s;
    int v = s.window("N C P Q R S", s.input("x", "N C H W"), {2, 3}, "R S");
    int later = s.slice("N C P-1 Q R S", v, "0 0 1 0 0 0", "N C P Q R S", "1 1 1 1 1 1");
    std::string text =
        s.simplified(s.contract("N K P-1 Q", later, s.input("w", "K C R S"), {"nchwrs", "kcrs", "nkhw"}));
    EXPECT_THAT(text, Not(HasSubstr("convolution")));
    // Nor is a kernel axis that survives, or filters that differ by position.
    std::string kept = s.simplified(s.contract("N K P Q S", v, s.input("w", "K C R S"), {"nchwrs", "kcrs", "nkhws"}));
    EXPECT_THAT(kept, Not(HasSubstr("convolution")));
    std::string local = s.simplified(s.contract("N K P Q", v, s.input("l", "K C P R S"), {"nchwrs", "kchrs", "nkhw"}));
    EXPECT_THAT(local, Not(HasSubstr("convolution")));
}

}  // namespace
}  // namespace strop
