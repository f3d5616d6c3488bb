// Loops of any length in a graph: read, evaluated, simplified, counted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/strings.h"
#include "graph/graph.h"
#include "graph/interpreter.h"
#include "graph/signature.h"
#include "graph/unroll.h"
#include "graph/work.h"

namespace strop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A running value h = 0.5 h + x[t + 1] over x[T], and twice what it was before each step.
const char* const body = R"({"nodes": [
    {"family": "input", "op": "0"}, {"family": "input", "op": "1", "shape": ["T"]},
    {"family": "layout", "op": "slice", "operands": [1], "shape": [1], "begin": ["t+1"], "end": ["t+2"], "step": [1]},
    {"family": "layout", "op": "reshape", "operands": [2]},
    {"family": "constant", "value": 0.5}, {"family": "pointwise", "op": "multiply", "operands": [0, 4]},
    {"family": "pointwise", "op": "add", "operands": [5, 3]},
    {"family": "constant", "value": 2}, {"family": "pointwise", "op": "multiply", "operands": [7, 0]}],
    "outputs": [6, 8]})";

std::string results(const std::string& inside = body, const std::string& count = "T-1") {
    const auto result = [&](const std::string& op, int k, const std::string& shape) {
        return fmt::format(R"({{"family": "repeat", "op": "{}", "operands": [1, 0], "shape": [{}], "body": {},
                              "step": "t", "count": "{}", "states": 1, "result": {}}})",
                           op, shape, inside, count, k);
    };
    return R"({"nodes": [{"family": "input", "op": "x", "shape": ["T"]}, {"family": "input", "op": "h"}, )" +
           result("last", 0, "") + ", " + result("stack", 0, "\"" + count + "\"") + ", " +
           result("stack", 1, "\"" + count + "\"") + R"(], "outputs": [2, 3, 4]})";
}

Arguments arguments(const std::vector<double>& x) {
    const int64_t length = static_cast<int64_t>(x.size());
    return {{{"x", {{length}, x}}, {"h", {{}, {8}}}}, {{"T", length}}};
}

TEST(Repeat, EveryStepReadsWhatTheOneBeforeLeft) {
    for (const Graph& graph : {parse_graph(results()), simplify(parse_graph(results()))}) {
        const std::vector<Array> some = interpret(graph, arguments({100, 1, 2, 3}));
        EXPECT_THAT(some[0].values, ElementsAre(5.25));
        EXPECT_THAT(some[1].values, ElementsAre(5, 4.5, 5.25));
        EXPECT_THAT(some[2].values, ElementsAre(16, 10, 9));
        const std::vector<Array> none = interpret(graph, arguments({100}));
        EXPECT_THAT(none[0].values, ElementsAre(8));
        EXPECT_EQ(none[1].shape, std::vector<int64_t>{0});
    }
}

TEST(Repeat, ResultsOfOneLoopShareIt) {
    for (const Graph& graph : {parse_graph(results()), simplify(parse_graph(results()))})
        for (int id : graph.outputs) EXPECT_TRUE(are_of_one_loop(graph.at(graph.outputs[0]), graph.at(id)));
    const Graph renamed = with_symbols(parse_graph(results()), {{"T", Expression::parse("U + 1")}});
    EXPECT_TRUE(are_of_one_loop(renamed.at(2), renamed.at(4)));
    EXPECT_THAT(symbols_of(renamed), ElementsAre("U"));
}

TEST(Repeat, AStepIsSimplifiedAndCountedOnce) {
    const Graph graph = simplify(parse_graph(
        replace_all(results(), "\"op\": \"multiply\", \"operands\": [7, 0]", "\"op\": \"add\", \"operands\": [0, 0]")));
    EXPECT_THAT(describe(graph), HasSubstr("1 states {"));
    EXPECT_EQ(count_flops(parse_graph(results()), {{"T", int64_t{11}}}), 10 * 3);
    const auto exact = [](const std::string& text) { return signature_of(simplify(parse_graph(text))).exact; };
    EXPECT_EQ(exact(results()), exact(replace_all(results(), "[5, 3]", "[3, 5]")));
    EXPECT_NE(exact(results()), exact(replace_all(results(), "\"add\"", "\"maximum\"")));
    EXPECT_EQ(signature_of(graph).operations.at("pointwise add"), 2);  // for three results
}

TEST(Repeat, AKnownNumberOfStepsCanBeWrittenOut) {
    const Graph graph = unrolled_loops(parse_graph(replace_all(results(body, "3"), "\"T\"", "4")));
    EXPECT_FALSE(has_loops(graph));
    Arguments some = arguments({100, 1, 2, 3});
    some.bindings.clear();
    const std::vector<Array> values = interpret(simplify(graph), some);
    EXPECT_THAT(values[0].values, ElementsAre(5.25));
    EXPECT_THAT(values[1].values, ElementsAre(5, 4.5, 5.25));
    EXPECT_THAT(values[2].values, ElementsAre(16, 10, 9));
    EXPECT_TRUE(has_loops(unrolled_loops(parse_graph(results()))));
    EXPECT_TRUE(has_loops(unrolled_loops(parse_graph(results(body, "99999")))));
}

TEST(Repeat, WhatDoesNotFitIsRefused) {
    const auto refused = [](const std::string& text, const std::string& what) {
        try {
            parse_graph(text);
            ADD_FAILURE() << what;
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), HasSubstr(what));
        }
    };
    refused(replace_all(results(), "\"states\": 1", "\"states\": 3"), "graph node 2: 3 states");
    refused(replace_all(results(), "\"states\": 1", "\"states\": -1"), "-1 states");
    refused(replace_all(results(), "\"result\": 1", "\"result\": 2"), "no result 'stack 2'");
    refused(replace_all(results(), "\"op\": \"last\"", "\"op\": \"first\""), "no result 'first 0'");
    refused(replace_all(results(), "\"op\": \"1\"", "\"op\": \"7\""), "no operand '7'");
    refused(replace_all(results(), "\"op\": \"1\"", "\"op\": \"x\""), "no operand 'x'");
    refused(replace_all(results(), "\"op\": \"h\"", "\"op\": \"h\", \"dtype\": \"float64\""), "another shape or type");
    refused(replace_all(results(), "\"count\"", "\"counts\""), "count");
}

}  // namespace
}  // namespace strop
