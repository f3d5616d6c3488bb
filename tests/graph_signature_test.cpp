#include "graph/signature.h"

#include <gtest/gtest.h>

#include "fakes/graph_builder.h"

namespace strop {
namespace {

Signature softmax(const std::string& input, const std::vector<std::string>& shape, bool logarithm = false,
                  int axis = 1) {
    GraphBuilder b("any");
    const int x = b.input(input, shape);
    const int shifted = b.point("subtract", {x, b.reduce("max", x, {axis})});
    const int exponential = b.point("exp", {shifted});
    const int sum = b.reduce("sum", exponential, {axis});
    const int y =
        logarithm ? b.point("subtract", {shifted, b.point("log", {sum})}) : b.point("divide", {exponential, sum});
    b.graph.outputs = {y};
    return signature_of(b.graph);
}

Signature sum_of_squares(bool squares) {
    GraphBuilder b("any");
    int x = b.input("x", {"N"});
    if (squares) x = b.point("square", {x});
    b.graph.outputs = {b.point("add", {x, x})};
    return signature_of(b.graph);
}

TEST(Signature, KnowsNeitherNamesNorSizes) {
    EXPECT_EQ(softmax("x", {"M", "N"}).exact, softmax("logits", {"rows", "4*columns"}).exact);
    EXPECT_EQ(similarity(softmax("x", {"M", "N"}), softmax("y", {"A", "B"})), 1);
}

TEST(Signature, KnowsOperationsAndReducedAxes) {
    const Signature rows = softmax("x", {"M", "N"});
    EXPECT_NE(rows.exact, softmax("x", {"M", "N"}, true).exact);
    EXPECT_NE(rows.exact, softmax("x", {"M", "N"}, false, 0).exact);
    EXPECT_EQ(rows.operations.at("reduction max [-1]"), 1);
    EXPECT_EQ(rows.operations.at("pointwise exp"), 1);
    EXPECT_EQ(rows.operations.count("input"), 0u);
}

TEST(Signature, RelativesAreNearerThanStrangers) {
    const Signature rows = softmax("x", {"M", "N"}), relative = softmax("x", {"M", "N"}, true);
    EXPECT_GT(similarity(rows, relative), 0.6);
    EXPECT_LT(similarity(rows, relative), 1);
    EXPECT_EQ(similarity(rows, relative), similarity(relative, rows));
    EXPECT_LT(similarity(rows, softmax("x", {"M", "N"}, false, 0)), 0.5);  // columns
    EXPECT_LT(similarity(rows, sum_of_squares(true)), 0.1);
}

TEST(Signature, WhatIsNotTracedResemblesNothing) {
    Graph graph;
    graph.untraceable = "'cumsum' is not traced";
    EXPECT_EQ(signature_of(graph).exact, "");
    EXPECT_EQ(similarity(signature_of(graph), signature_of(graph)), 0);
}

}  // namespace
}  // namespace strop
