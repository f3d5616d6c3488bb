// Schedules as TileLang modules: every strategy of every computation can be written, and what some say. That their
// kernels compute what NumPy does, tests/python/test_tilelang.py checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/tilelang.h"
#include "fakes/computations.h"
#include "playbook/scheduled_strategies.h"

namespace strop::playbook {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const Computation& computation(const std::string& name) {
    for (const Computation& one : computations())
        if (one.problem.name == name) return one;
    throw std::logic_error(name);
}

std::string module_of(const std::string& name, const std::string& strategy) {
    const Computation& one = computation(name);
    for (const ScheduledStrategy& found : scheduled_strategies(one.problem, simplify(one.graph)).strategies)
        if (found.strategy.id == strategy) return backend::write_tilelang(one.problem, found.schedule).source;
    ADD_FAILURE() << name << " has no strategy " << strategy;
    return {};
}

TEST(TileLang, EveryStrategyOfEveryComputationIsWritten) {
    for (const Computation& one : computations())
        for (const ScheduledStrategy& strategy : scheduled_strategies(one.problem, simplify(one.graph)).strategies) {
            std::vector<ScheduledStrategy> all = {strategy};
            all.insert(all.end(), strategy.variants.begin(), strategy.variants.end());
            for (const ScheduledStrategy& way : all) {
                const backend::SourceText text = backend::write_tilelang(one.problem, way.schedule);
                EXPECT_THAT(text.lacks, IsEmpty()) << one.problem.name << ", " << way.strategy.id << way.suffix;
                EXPECT_THAT(text.source, HasSubstr("def " + one.problem.name + "("));
            }
        }
}

TEST(TileLang, RowsGoByChunks) {
    const std::string text = module_of("top_share", "block_per_row");
    EXPECT_THAT(text, HasSubstr("# strop:tune CHUNK = 1024 | 512 | 2048 | 4096\n# strop:tune THREADS = 128 | 256\n"));
    EXPECT_THAT(text, HasSubstr("    j = piece * CHUNK + lane\n"));
    EXPECT_THAT(text, HasSubstr("tl.Or(old_max > new_max, tl.isnan(old_max))"));  // a NaN stays
    EXPECT_THAT(text, HasSubstr("tl.reduce_sum(sum_of_lanes, sum, dim=0)"));
}

TEST(TileLang, AKeptRowIsLoadedOnce) {
    const std::string text = module_of("top_share", "block_keeps_row");
    EXPECT_THAT(text, HasSubstr("# for N <= 4096\n"));
    EXPECT_THAT(text, HasSubstr("ROW = max(2 * THREADS, 1 << (N - 1).bit_length())"));
    const size_t first = text.find(" x[");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(text.find(" x[", first + 1), std::string::npos);
}

TEST(TileLang, ProductsAreExactAndFitIntoSharedMemory) {
    const std::string text = module_of("covariance", "fused_stages");
    EXPECT_THAT(text, testing::Not(HasSubstr("tl.gemm")));  // of float32 it takes TF32
    EXPECT_THAT(text, HasSubstr("for piece in tl.Pipelined(ceildiv("));
    EXPECT_THAT(text, HasSubstr("# strop:require (TILE_M + TILE_N)*TILE_K*NUM_STAGES*4 <= 232448\n"));
}

TEST(TileLang, ScansCarryFromChunkToChunk) {
    const std::string text = module_of("running_maximum_gap", "block_scans");
    EXPECT_THAT(text, HasSubstr("for level in tl.serial((CHUNK - 1).bit_length()):"));
    EXPECT_THAT(text, HasSubstr("new_max_3 = line[CHUNK - 1]"));
}

TEST(TileLang, ANameOfTheModuleIsRefused) {
    Computation one = computation("top_share");
    const ScheduledStrategy strategy = scheduled_strategies(one.problem, simplify(one.graph)).strategies[0];
    one.problem.dimensions[0] = "ceildiv";
    EXPECT_EQ(backend::write_tilelang(one.problem, strategy.schedule).lacks,
              "the name 'ceildiv', which a TileLang module has for something else");
}

}  // namespace
}  // namespace strop::playbook
