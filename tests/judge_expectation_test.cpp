// What is expected of outputs, and how exactly.
#include <cmath>

#include <gtest/gtest.h>

#include "judge/expectation.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

// A single sum of values around zero may come out as next to nothing; rounding errors do not become smaller with it.
TEST(Expectation, of_a_single_output_has_the_scale_of_others_like_it) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    const ShapePoint point{"one", {{"M", 1}, {"N", 1000}}};
    Expectation expectation(problem, 1, Seconds(60));
    bool any_small = false;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        expectation.reseed(seed);
        Buffers& buffers = expectation.at(point);
        const InputSet& set = buffers.sets().front();
        const double usual = std::sqrt(1000.0), own = std::fabs(buffers.expected(set, 0)[0]);
        any_small = any_small || own < 0.1 * usual;
        EXPECT_GT(set.scale[0], 0.3 * usual) << "seed " << seed;
        EXPECT_GE(set.scale[0], own);
        // The inputs are those that the expected value belongs to.
        const float* x = reinterpret_cast<const float*>(buffers.input(set, 0));
        double sum = 0;
        for (int i = 0; i < 1000; ++i) sum += x[i];
        EXPECT_NEAR(buffers.expected(set, 0)[0], sum, 1e-9);
    }
    EXPECT_TRUE(any_small);   // else this tests nothing
}

TEST(Expectation, of_many_outputs_has_their_own_scale) {
    const Problem problem = load_problem(STROP_SOURCE_DIR "/problems/row_sum");
    Expectation expectation(problem, 1, Seconds(60));
    Buffers& buffers = expectation.at({"many", {{"M", 300}, {"N", 16}}});
    const InputSet& set = buffers.sets().front();
    double squares = 0;
    for (int i = 0; i < 300; ++i) squares += buffers.expected(set, 0)[i] * buffers.expected(set, 0)[i];
    EXPECT_DOUBLE_EQ(set.scale[0], std::sqrt(squares / 300));
}

}  // namespace
}  // namespace strop::judge
