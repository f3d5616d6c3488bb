// Schedules as Triton modules: every strategy of every computation can be written, and what some say. That
// they compute what NumPy does, tests/python/test_triton.py checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/triton.h"
#include "fakes/computations.h"
#include "playbook/scheduled_strategies.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Computation& computation(const std::string& name) {
    for (const Computation& one : computations())
        if (one.problem.name == name) return one;
    throw std::logic_error(name);
}

std::string module_of(const std::string& name, const std::string& strategy) {
    const Computation& one = computation(name);
    for (const ScheduledStrategy& found : scheduled_strategies(one.problem, simplify(one.graph)).strategies)
        if (found.strategy.id == strategy) return backend::write_triton(one.problem, found.schedule).source;
    ADD_FAILURE() << name << " has no strategy " << strategy;
    return {};
}

TEST(Triton, EveryStrategyOfEveryComputationIsWritten) {
    for (const Computation& one : computations())
        for (const ScheduledStrategy& strategy : scheduled_strategies(one.problem, simplify(one.graph)).strategies) {
            std::vector<ScheduledStrategy> all = {strategy};
            all.insert(all.end(), strategy.variants.begin(), strategy.variants.end());
            for (const ScheduledStrategy& way : all) {
                const backend::SourceText text = backend::write_triton(one.problem, way.schedule);
                EXPECT_THAT(text.lacks, IsEmpty()) << one.problem.name << ", " << way.strategy.id << way.suffix;
                EXPECT_THAT(text.source, HasSubstr("def " + one.problem.name + "("));
                EXPECT_THAT(text.source, Not(HasSubstr("and (")));  // of vectors it is `&`
            }
        }
}

TEST(Triton, RowsGoByChunks) {
    const std::string text = module_of("top_share", "block_per_row");
    EXPECT_THAT(text, HasSubstr("# strop:tune CHUNK = 1024 | 512 | 2048 | 4096\n"));
    EXPECT_THAT(text, HasSubstr("CHUNK = 1024\n"));
    // Lanes without work give the start of the law.
    EXPECT_THAT(text, HasSubstr("        x = tl.load(x_ptr + i*N + j, mask=j < N, other=float(\"-inf\"))\n"
                                "        largest = maximum(largest, x)\n"
                                "    largest = tl.reduce(largest, 0, maximum)\n"));
    EXPECT_THAT(text, HasSubstr("propagate_nan=tl.PropagateNan.ALL"));
    EXPECT_THAT(text, HasSubstr("value, place = tl.reduce((value, place), 0, argmax)"));
}

TEST(Triton, AKeptRowIsLoadedOnce) {
    const std::string text = module_of("top_share", "block_keeps_row");
    EXPECT_THAT(text, HasSubstr("# for N <= 4096\n"));
    EXPECT_THAT(text, HasSubstr("ROW=triton.next_power_of_2(N)"));
    const size_t first = text.find("tl.load(");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("tl.load(", first + 1), std::string::npos);
}

TEST(Triton, ProductsAreExact) {
    const std::string text = module_of("covariance", "fused_stages");
    EXPECT_THAT(text, HasSubstr("input_precision=\"ieee\")"));
    EXPECT_THAT(text, HasSubstr("# strop:tune TILE_M = 64 | 32 | 128\n"));
}

TEST(Triton, ScansCarryFromChunkToChunk) {
    const std::string text = module_of("running_maximum_gap", "block_scans");
    EXPECT_THAT(text, HasSubstr("running = maximum(carried, tl.associative_scan(x, 0, maximum))"));
    EXPECT_THAT(text, HasSubstr("carried = maximum(carried, whole)"));
}

TEST(Triton, ANameOfTheModuleIsRefused) {
    Computation one = computation("top_share");
    const ScheduledStrategy strategy = scheduled_strategies(one.problem, simplify(one.graph)).strategies[0];
    one.problem.dimensions[0] = "tl";
    EXPECT_EQ(backend::write_triton(one.problem, strategy.schedule).lacks,
              "the name 'tl', which a Triton module has for something else");
}

}  // namespace
}  // namespace strop::playbook
