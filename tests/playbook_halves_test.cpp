// Kernels over 16-bit tensors: every structure's are compared with the interpreter of its graph on the rounded inputs,
// at ragged and tiny extents, and what no emitter takes becomes a program.
#include <gmock/gmock.h>

#include "fakes/kernel_trial.h"
#include "language/contract.h"
#include "playbook/scheduled_strategies.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;
using testing::Not;

class Halves : public KernelTrial {
protected:
    Halves() { tolerance = 1e-4; }

    // One recipe of each strategy: variants differ in what has nothing to do with types.
    void check(Emitter emit, const Builder& b, const std::vector<Dimensions>& shapes) {
        for (DType type : {DType::bfloat16, DType::float16}) {
            stored = type;
            const Builder half = kept(b);
            Recipes recipes = emit(half.problem, half.graph, machine);
            ASSERT_EQ(recipes.lacks, "");
            ASSERT_FALSE(recipes.recipes.empty());
            for (Recipe& recipe : recipes.recipes) {
                recipe.suffix = "one configuration";
                for (const auto& [name, value] : default_configuration(parse_tunables(recipe.source, "kernel")))
                    recipe.initial.emplace(name, value);
                check_one(half, recipe, shapes);
                if (HasFatalFailure()) return;
            }
        }
    }
};

const std::vector<Dimensions> matrices = {
    {{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}}, {{"M", 9}, {"N", 64}}, {{"M", 2}, {"N", 301}}};

TEST_F(Halves, AreReadAndWrittenInLoops) {
    Builder rows("rows");
    const int x = rows.input("x", {"M", "N"});
    rows.output("y", rows.point("multiply", {rows.softmax(x, 1), rows.input("bits_of", {"N"})}));
    rows.output("largest", rows.reduce("max", x, {1}, false));
    check(emit_loops, rows, matrices);
    Builder columns("columns");
    const int down = columns.input("halves", {"M", "N"});
    columns.output("y", columns.point("subtract", {down, columns.mean(down, {0}, "M")}));
    check(emit_loops, columns, matrices);
}

TEST_F(Halves, AreReadAndWrittenByPoolingSearchesAndScans) {
    Builder pool("pool");
    const int view = pool.windows(pool.input("x", {"N", "H", "W"}), {1, 2}, {3, 3}, {2, 2}, {1, 1});
    pool.output("y", pool.reduce("max", view, {3, 4}, false));
    check(emit_windows, pool, {{{"N", 2}, {"H", 9}, {"W", 41}}, {{"N", 1}, {"H", 3}, {"W", 3}}});
    Builder search("search");
    const int x = search.input("x", {"M", "N"});
    search.output("place", search.reduce("argmax", x, {1}, false));
    search.output("best", search.reduce("max", x, {1}, false));
    check(emit_places, search, matrices);
    Builder scan("scan");
    scan.output("y", scan.scan("sum", scan.input("x", {"M", "N"}), 1));
    check(emit_scan, scan, matrices);
}

TEST_F(Halves, AreFactorsOfProducts) {
    const std::vector<Dimensions> shapes = {
        {{"M", 7}, {"N", 17}, {"K", 9}}, {{"M", 1}, {"N", 1}, {"K", 1}}, {{"M", 5}, {"N", 40}, {"K", 600}}};
    for (const char* right : {"kn", "nk"}) {
        Builder b("product");
        const int x = b.input("x", {"M", "K"});
        const int w = b.input(
            "w", std::string(right) == "kn" ? std::vector<std::string>{"K", "N"} : std::vector<std::string>{"N", "K"});
        const int product = b.einsum(x, w, {"mk", right, "mn"}, {"M", "N"});
        b.output("y", b.point("maximum", {b.point("add", {product, b.input("bias", {"N"})}), b.constant(0)}));
        check(emit_contraction, b, shapes);
    }
}

// Sums over parts of k would be rounded where a block leaves them in the result.
TEST_F(Halves, ProductsKeepTheirSumsOutOfTheResult) {
    Builder b("product");
    b.output("y", b.einsum(b.input("x", {"M", "K"}), b.input("w", {"K", "N"}), {"mk", "kn", "mn"}, {"M", "N"}));
    stored = DType::bfloat16;
    const Builder half = kept(b);
    for (const Recipe& recipe : emit_contraction(half.problem, half.graph, machine).recipes) {
        EXPECT_THAT(recipe.source, Not(HasSubstr("late KC"))) << recipe.strategy.id;
        EXPECT_NE(recipe.strategy.id, "split_inner");
    }
}

TEST_F(Halves, ArePartsOfPrograms) {
    Builder convolution("image");
    const int x = convolution.input("x", {"N", "C", "H", "W"}), w = convolution.input("w", {"K", "C", "3", "3"});
    const int y = convolution.convolution(x, w, "1", "1", "1", "1", {"N", "K", "H", "W"});
    const int bias = convolution.reshape(convolution.input("bias", {"K"}), {"1", "K", "1", "1"});
    convolution.output("y", convolution.point("tanh", {convolution.point("add", {y, bias})}));
    check(emit_program, convolution, {{{"N", 1}, {"C", 3}, {"H", 9}, {"W", 11}, {"K", 5}}});
    // A value that is stored in 16 bits and read on: the reader gets what was computed.
    Builder chain("chain");
    const int scanned = chain.scan("sum", chain.input("x", {"M", "N"}), 1);
    chain.output("sums", scanned);
    chain.output("squares", chain.reduce("sum", chain.point("square", {scanned}), {1}, false));
    check(emit_program, chain, {{{"M", 3}, {"N", 37}}, {{"M", 1}, {"N", 1}}});
}

TEST_F(Halves, StandBesideFloat32) {
    Builder b("mixed");
    const int x = b.input("x", {"M", "N"});
    b.output("y", b.point("add", {x, b.input("shift", {"N"})}));
    b.output("total", b.reduce("sum", x, {1}, false));
    b.problem.inputs[0].dtype = DType::bfloat16;
    b.problem.outputs[0].dtype = DType::float16;
    KernelTrial::check(emit_loops, b, matrices, 1);
}

TEST_F(Halves, AreForOpenClAndCudaAndNotForModulesYet) {
    Builder b("copy");
    b.output("y", b.point("negative", {b.input("x", {"N"})}));
    b.problem.inputs[0].dtype = DType::float16;
    EXPECT_THAT(scheduled_strategies(b.problem, b.graph).lacks, HasSubstr("16-bit tensors"));
    EXPECT_THAT(emit_opencl(b.problem, b.graph, machine).recipes, Not(testing::IsEmpty()));
    EXPECT_THAT(emit_cuda(b.problem, b.graph, machine).recipes, Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace strop::playbook
