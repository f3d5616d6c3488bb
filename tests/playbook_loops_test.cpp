// Kernels for pointwise chains and reductions: every strategy of every structure is compiled and compared
// with a plain interpreter of the graph in double precision, on shapes with tails, single elements and
// nothing at all.
#include <gmock/gmock.h>

#include "fakes/kernel_trial.h"
#include "graph/decisions.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;
using testing::Not;

class Loops : public KernelTrial {
protected:
    void check(const Builder& b, const std::vector<Dimensions>& shapes, size_t at_least = 3) {
        KernelTrial::check(emit_loops, b, shapes, at_least);
    }
};

const std::vector<Dimensions> matrix_shapes = {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}},  {{"M", 0}, {"N", 5}},
                                               {{"M", 9}, {"N", 64}}, {{"M", 17}, {"N", 7}}, {{"M", 2}, {"N", 301}}};

TEST_F(Loops, softmax) {
    Builder b("softmax");
    b.output("y", b.softmax(b.input("x", {"M", "N"}), 1));
    check(b, matrix_shapes, 5);
}

TEST_F(Loops, layernorm_with_learned_scale) {
    Builder b("layernorm");
    int x = b.input("x", {"M", "N"}), gamma = b.input("gamma", {"N"}), beta = b.input("beta", {"N"});
    int eps = b.parameter("eps", 1e-5);
    int centred = b.point("subtract", {x, b.mean(x, {1}, "N")});
    int variance = b.mean(b.point("square", {centred}), {1}, "N");
    int root = b.point("sqrt", {b.point("add", {variance, eps})});
    b.output("y", b.point("add", {b.point("multiply", {b.point("divide", {centred, root}), gamma}), beta}));
    tolerance = 2e-5;
    check(b, {{{"M", 3}, {"N", 37}}, {{"M", 0}, {"N", 5}}, {{"M", 9}, {"N", 64}}, {{"M", 2}, {"N", 301}}}, 5);
    shift = 10;
    tolerance = 2e-4;
    check(b, {{{"M", 5}, {"N", 203}}}, 5);
}

TEST_F(Loops, folds_of_sums_products_and_choices) {
    for (const char* op : {"sum", "prod", "max", "min"})
        for (int axis : {0, 1}) {
            Builder b("folded");
            const int x = b.input("x", {"M", "N"}), y = b.point("multiply", {x, b.constant(0.05)});
            const int above = b.point("add", {y, b.constant(1)}), below = b.point("subtract", {b.constant(1), y});
            const int either = b.point("where", {b.point("greater", {x, b.constant(0)}), above, below});
            b.output("p", b.reduce(op, above, {axis}, false));
            b.output("q", b.reduce(op, either, {axis}, false));
            check(b, matrix_shapes, 2);
        }
}

TEST_F(Loops, log_sum_exp_and_losses_of_rows) {
    Builder b("loss");
    int x = b.input("x", {"M", "N"}), target = b.input("target", {"M", "N"});
    int largest = b.reduce("max", x, {1});
    int shifted = b.point("subtract", {x, largest});
    int log_sum = b.point("log", {b.reduce("sum", b.point("exp", {shifted}), {1})});
    int log_softmax = b.point("subtract", {shifted, log_sum});
    int loss = b.point("negative", {b.reduce("sum", b.point("multiply", {target, log_softmax}), {1}, false)});
    b.output("loss", loss);
    b.output("lse", b.reshape(b.point("add", {log_sum, largest}), {"M"}));
    tolerance = 2e-5;
    check(b, {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}}, {{"M", 9}, {"N", 64}}, {{"M", 2}, {"N", 301}}}, 3);
}

TEST_F(Loops, gelu_with_bias_and_residual) {
    Builder b("bias_gelu_residual");
    int x = b.input("x", {"M", "N"}), bias = b.input("bias", {"N"}), residual = b.input("residual", {"M", "N"});
    int t = b.point("add", {x, bias});
    int erf = b.point("erf", {b.point("multiply", {t, b.constant(0.70710678)})});
    int gelu = b.point("multiply", {b.point("multiply", {b.constant(0.5), t}), b.point("add", {erf, b.constant(1)})});
    b.output("y", b.point("add", {gelu, residual}));
    check(b, matrix_shapes);
}

TEST_F(Loops, sum_of_rows) {
    Builder b("row_sum");
    b.output("y", b.reduce("sum", b.input("x", {"M", "N"}), {1}, false));
    tolerance = 2e-5;
    check(b, matrix_shapes);
}

TEST_F(Loops, sum_of_columns) {
    Builder b("column_sum");
    b.output("y", b.reduce("sum", b.input("x", {"M", "N"}), {0}, false));
    tolerance = 2e-5;
    check(b, matrix_shapes);
}

TEST_F(Loops, standard_score_of_columns_and_a_middle_axis) {
    Builder b("score");
    int x = b.input("x", {"B", "M", "N"}), weight = b.input("weight", {"N"});
    int centred = b.point("subtract", {x, b.mean(x, {1}, "M")});
    int deviation = b.point("sqrt", {b.mean(b.point("square", {centred}), {1}, "M")});
    int shifted = b.point("add", {deviation, b.constant(0.1)});
    b.output("y", b.point("multiply", {b.point("divide", {centred, shifted}), weight}));
    b.output("spread", b.reshape(deviation, {"B", "N"}));
    tolerance = 2e-5;
    check(b, {{{"B", 2}, {"M", 5}, {"N", 37}}, {{"B", 1}, {"M", 60}, {"N", 130}}, {{"B", 3}, {"M", 1}, {"N", 1}}});
}

TEST_F(Loops, softmax_over_the_first_axis) {
    Builder b("softmax0");
    b.output("y", b.softmax(b.input("x", {"M", "N"}), 0));
    check(b, matrix_shapes);
}

// 1 / b overflows where b is subnormal, and a / b does not.
TEST_F(Loops, quotients_by_what_may_be_subnormal) {
    Builder rows("rows"), columns("columns"), all("all");
    auto largest = [](Builder& b, int x, std::vector<int> axes) {
        return b.point("divide", {x, b.reduce("max", b.point("absolute", {x}), axes)});
    };
    for (auto [b, axes] : {std::pair{&rows, std::vector<int>{1}}, {&columns, {0}}, {&all, {0, 1}}})
        b->output("y", largest(*b, b->input("x", {"M", "N"}), axes));
    for (const double size : {1e-42, 1.0}) {
        scale = size;
        tolerance = size < 1e-38 ? 2e-2 : 2e-6;
        for (Builder* b : {&rows, &columns, &all}) check(*b, {{{"M", 9}, {"N", 37}}});
    }
}

// Whole numbers are divided with a remainder or without one.
TEST_F(Loops, what_decides_is_computed_as_it_is_written) {
    whole = true;
    tolerance = 1e-9;
    Builder multiples("multiples"), shares("shares"), columns("columns");
    const int seventh = multiples.point("divide", {multiples.input("x", {"M", "N"}), multiples.constant(7)});
    const int is_whole = multiples.point("equal", {seventh, multiples.point("floor", {seventh})});
    multiples.output("y", multiples.point("where", {is_whole, multiples.constant(1), multiples.constant(0)}));
    for (auto [b, axis] : {std::pair{&shares, 1}, {&columns, 0}}) {
        const int x = b->input("x", {"M", "N"});
        const int largest = b->reduce("max", b->point("absolute", {x}), {axis});
        b->output("y", b->point("round", {b->point("divide", {x, b->point("add", {largest, b->constant(1)})})}));
    }
    for (Builder* b : {&multiples, &shares, &columns}) {
        mark_decisions(b->graph);
        check(*b, {{{"M", 9}, {"N", 203}}, {{"M", 64}, {"N", 37}}}, 1);
    }
}

// A multiply-add would keep digits that the product has lost.
TEST_F(Loops, products_are_rounded_before_a_sum_decides) {
    Builder b("steps");
    const int product = b.point("multiply", {b.input("x", {"M", "N"}), b.input("scale", {"N"})});
    b.output("y", b.point("floor", {b.point("add", {product, b.input("shift", {"N"})})}));
    b.output("z", b.point("add", {product, b.constant(1)}));
    EXPECT_THAT(emit_loops(b.problem, b.graph, machine).recipes.at(0).source, Not(HasSubstr("rounded_product(x_j")));
    mark_decisions(b.graph);
    EXPECT_THAT(emit_loops(b.problem, b.graph, machine).recipes.at(0).source, HasSubstr("rounded_product(x_j"));
    check(b, {{{"M", 9}, {"N", 203}}}, 1);
}

// The largest logit is a rounded product: what is subtracted from it has to be rounded alike.
TEST_F(Loops, softmax_of_large_products) {
    for (const double factor : {1.4285715e12, -0.7e10}) {
        Builder rows("rows"), columns("columns");
        for (Builder* b : {&rows, &columns}) {
            const int scaled = b->point("multiply", {b->input("x", {"M", "N"}), b->constant(factor)});
            b->output("y", b->softmax(scaled, b == &rows ? 1 : 0));
        }
        check(rows, {{{"M", 9}, {"N", 64}}, {{"M", 5}, {"N", 203}}}, 3);
        check(columns, {{{"M", 64}, {"N", 37}}}, 1);
    }
}

TEST_F(Loops, special_values_behave_as_in_numpy) {
    for (double value : {-double(INFINITY), double(INFINITY), double(NAN)}) {
        special = true;
        special_value = value;
        Builder softmax("softmax");
        softmax.output("y", softmax.softmax(softmax.input("x", {"M", "N"}), 1));
        check(softmax, {{{"M", 3}, {"N", 70}}}, 5);
        Builder largest("largest");
        largest.output("y", largest.reduce("max", largest.input("x", {"M", "N"}), {1}, false));
        check(largest, {{{"M", 4}, {"N", 21}}}, 3);
    }
}

TEST_F(Loops, a_row_that_begins_masked) {
    Builder b("masked");
    int x = b.input("x", {"B", "H", "N"}), mask = b.input("mask", {"B", "1", "N"}, DType::boolean);
    int factor = b.input("scale", {"H", "1"});
    int masked = b.point("where", {mask, b.point("multiply", {x, factor}), b.constant(-1e30)});
    b.output("y", b.softmax(masked, 2));
    check(b, {{{"B", 2}, {"H", 3}, {"N", 45}}, {{"B", 1}, {"H", 2}, {"N", 300}}}, 4);
}

TEST_F(Loops, everything_to_one_number) {
    Builder b("total");
    b.output("y", b.reduce("sum", b.input("x", {"M", "N"}), {0, 1}, false));
    tolerance = 1e-4;
    check(b, {{{"M", 1}, {"N", 1}}, {{"M", 0}, {"N", 3}}, {{"M", 37}, {"N", 101}}});
}

TEST_F(Loops, several_outputs_truth_values_and_names_that_would_hide_helpers) {
    Builder b("compare");
    int x = b.input("load", {"rows", "N"}), y = b.input("vec", {"N"});
    int less = b.point("less", {x, y});
    b.output("sum", less);
    b.output("j", b.point("where", {less, b.point("negative", {x}), b.point("maximum", {x, y})}));
    check(b, {{{"rows", 3}, {"N", 37}}, {{"rows", 1}, {"N", 1}}, {{"rows", 0}, {"N", 4}}, {{"rows", 5}, {"N", 64}}});
}

TEST_F(Loops, one_dimension) {
    Builder b("flat");
    b.output("y", b.point("exp", {b.point("tanh", {b.input("x", {"N"})})}));
    check(b, {{{"N", 0}}, {{"N", 1}}, {{"N", 1000}}});
}

TEST_F(Loops, products_and_minima_of_columns) {
    Builder b("extremes");
    int x = b.input("x", {"M", "N"});
    b.output("least", b.reduce("min", x, {0}, false));
    b.output("all", b.reduce("prod", b.point("sigmoid", {x}), {0}, false));
    check(b, {{{"M", 7}, {"N", 37}}, {{"M", 1}, {"N", 3}}});
}

TEST_F(Loops, layernorm_has_an_online_strategy) {
    Builder b("layernorm");
    int x = b.input("x", {"M", "N"});
    int centred = b.point("subtract", {x, b.mean(x, {1}, "N")});
    b.output("y", b.point("divide", {centred, b.point("sqrt", {b.mean(b.point("square", {centred}), {1}, "N")})}));
    std::set<std::string> ids;
    for (const Recipe& recipe : emit_loops(b.problem, b.graph, machine).recipes) {
        ids.insert(recipe.strategy.id);
        EXPECT_EQ(recipe.strategy.excludes.size(), 4u);
        for (const std::pair<const std::string, Value>& tunable : recipe.initial)
            EXPECT_NE(recipe.source.find(" " + tunable.first + " = "), std::string::npos);
    }
    EXPECT_TRUE(ids.contains("online_single_read"));
    EXPECT_TRUE(ids.contains("resident_passes"));
}

TEST_F(Loops, says_what_is_missing) {
    auto lacks = [&](const Builder& b) {
        Recipes recipes = emit_loops(b.problem, b.graph, machine);
        EXPECT_TRUE(recipes.recipes.empty());
        return recipes.lacks;
    };
    Builder argmax("argmax");
    argmax.output("y", argmax.reduce("argmax", argmax.input("x", {"M", "N"}), {1}));
    EXPECT_EQ(lacks(argmax), "values of type int64");
    Builder gamma("gamma");
    gamma.output("y", gamma.point("gamma", {gamma.input("x", {"M"})}));
    EXPECT_EQ(lacks(gamma), "pointwise 'gamma'");
    Builder wide("wide");
    wide.output("y", wide.point("exp", {wide.input("x", {"M"}, DType::float64)}));
    EXPECT_EQ(lacks(wide), "inputs of type float64");
    Builder both("both");
    int x = both.input("x", {"M", "N"});
    both.output("y", both.point("add", {both.reduce("sum", x, {0}), both.reduce("sum", x, {1})}));
    EXPECT_NE(lacks(both), "");
    Builder scalar("scalar");
    scalar.output("y", scalar.point("square", {scalar.input("x", {})}));
    EXPECT_EQ(lacks(scalar), "an axis to loop over");
    Builder reshaped("reshaped");
    reshaped.output("y", reshaped.reshape(reshaped.input("x", {"M", "N"}), {"N", "M"}));
    EXPECT_EQ(lacks(reshaped), "layout 'reshape' inside the loops");
}

}  // namespace
}  // namespace strop::playbook
