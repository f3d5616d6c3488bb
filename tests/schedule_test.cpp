// Schedules by hand: what the interpreter computes, and what it refuses.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fakes/graph_builder.h"
#include "schedule/graph_terms.h"
#include "schedule/interpreter.h"

namespace strop::schedule {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Expression at(const std::string& text) { return Expression::parse(text); }

// y[i] = the law's merge of x[i, j] over j.
struct RowFold {
    GraphBuilder builder{"folded"};
    Schedule schedule;

    explicit RowFold(const Law& law) {
        const int x = builder.input("x", {"M", "N"});
        builder.output("y", builder.reduce("sum", x, {1}, false));
        Launch launch{"rows", Share::threads, {{"i", at("M")}}, {}, {}};
        GraphTerms terms(builder.graph, launch.terms);
        std::vector<int> element = {terms.at(x, {at("i"), at("j")})};
        if (law.parts.size() == 2)
            element.push_back(law.name == "normalizer" ? terms.number(1, DType::float32)
                                                       : terms.index(at("j"), DType::int64));
        FoldStep fold{{{{"first", "second"}, law, element}}};
        fold.folds[0].names.resize(law.parts.size());
        launch.steps.push_back({{{"j", at("N")}}, fold});
        const int result = terms.result(fold.folds[0].names.back(), law.parts.back().dtype);
        launch.steps.push_back({{}, StoreStep{{{"y", {at("i")}, result}}}});
        schedule.launches = {launch};
    }

    std::vector<double> run(const std::vector<double>& values, int64_t rows) {
        Arguments arguments;
        const auto columns = static_cast<int64_t>(values.size()) / rows;
        arguments.inputs["x"] = {{rows, columns}, values};
        arguments.bindings = {{"M", rows}, {"N", columns}};
        return interpret(builder.problem, schedule, arguments)[0].values;
    }
};

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(ScheduleLaws, FoldAsTheGraphDoes) {
    EXPECT_THAT(RowFold(fold_law("sum", DType::float32)).run({1, 2, 3, 4, 5, 6}, 2), ElementsAre(6, 15));
    EXPECT_THAT(RowFold(fold_law("max", DType::float32)).run({-1, -2, -3, 4, 9, 6}, 2), ElementsAre(-1, 9));
    EXPECT_TRUE(std::isnan(RowFold(fold_law("max", DType::float32)).run({1, nan_value, 3}, 1)[0]));
}

TEST(ScheduleLaws, TheFirstOfEqualExtremesAndTheFirstNaNWin) {
    const Law law = extremum_law("argmax", DType::float32);
    EXPECT_THAT(RowFold(law).run({1, 7, 7, 2, 2, 2, -infinity, -infinity, -infinity}, 3), ElementsAre(1, 0, 0));
    EXPECT_THAT(RowFold(law).run({1, nan_value, 9, nan_value}, 1), ElementsAre(1));
    EXPECT_THAT(RowFold(extremum_law("argmin", DType::float32)).run({3, -1, -1, 4}, 1), ElementsAre(1));
}

TEST(ScheduleLaws, TheNormalizerNeedsOnePass) {
    const std::vector<double> x = {700, 710, 705, -3};
    double sum = 0;
    for (double value : x) sum += std::exp(value - 710);
    EXPECT_NEAR(RowFold(normalizer_law(DType::float32)).run(x, 1)[0], sum, 1e-12);
}

TEST(ScheduleInterpreter, RefusesDefects) {
    auto message = [](RowFold fold) {
        try {
            fold.run({1, 2, 3, 4}, 2);
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
        return std::string("nothing");
    };
    RowFold outside(fold_law("sum", DType::float32));
    outside.schedule.launches[0].terms[0].at[1] = at("j + 1");
    EXPECT_THAT(message(outside), HasSubstr("x: 2 is outside of axis 1 of 2"));
    RowFold incomplete(fold_law("sum", DType::float32));
    incomplete.schedule.launches[0].grid[0].extent = at("M - 1");
    EXPECT_THAT(message(incomplete), HasSubstr("an element of 'y' is never written"));
    RowFold early(fold_law("sum", DType::float32));
    std::swap(early.schedule.launches[0].steps[0], early.schedule.launches[0].steps[1]);
    EXPECT_THAT(message(early), HasSubstr("'first' is read before it is known"));
}

TEST(GraphTerms, RegroupOnlyTheAxesThatChange) {
    const std::vector<Expression> from = {at("B"), at("S"), at("H*D")}, to = {at("B"), at("S"), at("H"), at("D")};
    std::vector<std::string> texts;
    for (const Expression& one : regrouped({at("b"), at("s"), at("h"), at("d")}, to, from)) texts.push_back(one.text());
    EXPECT_THAT(texts, ElementsAre("b", "s", "h*D + d"));
    texts.clear();
    for (const Expression& one : regrouped({at("b"), at("s"), at("c")}, from, to)) texts.push_back(one.text());
    EXPECT_THAT(texts, ElementsAre("b", "s", "c//D", "c%D"));
}

// By its paths a chain of squares has 2^n values.
TEST(GraphTerms, AChainOfSquaresHasATermForEachOfThem) {
    GraphBuilder builder("squares");
    int value = builder.input("x", {"N"});
    for (int i = 0; i < 60; ++i) value = builder.point("multiply", {value, value});
    std::vector<Term> terms;
    GraphTerms(builder.graph, terms).at(value, {at("i")});
    EXPECT_EQ(terms.size(), 61u);
}

}  // namespace
}  // namespace strop::schedule
