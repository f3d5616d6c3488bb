#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fakes/fake_proposer.h"
#include "tune/searcher.h"
#include "tune/space.h"

namespace strop::tune {
namespace {

using fakes::numbers;

std::vector<int64_t> range(int64_t low, int64_t high) {
    std::vector<int64_t> values;
    for (int64_t i = low; i <= high; ++i) values.push_back(i);
    return values;
}

TunableSpace make_space(const std::vector<Tunable>& tunables, const std::vector<std::string>& constraints) {
    TunableSpace space{tunables, {}};
    for (const std::string& constraint : constraints)
        space.constraints.push_back(Expression::parse(constraint));
    return space;
}

int64_t number(const Configuration& configuration, const std::string& name) {
    return std::get<int64_t>(configuration.at(name));
}

// Of the product, those that meet all constraints: what the enumeration must find.
std::set<Configuration> brute_force(const TunableSpace& space) {
    std::set<Configuration> all = {{}};
    for (const Tunable& tunable : space.tunables) {
        std::set<Configuration> longer;
        for (Configuration configuration : all)
            for (const Value& value : tunable.values) {
                configuration[tunable.name] = value;
                longer.insert(configuration);
            }
        all = std::move(longer);
    }
    std::erase_if(all, [&](const Configuration& configuration) {
        for (const Expression& constraint : space.constraints)
            if (!truthy(constraint.evaluate(configuration))) return true;
        return false;
    });
    return all;
}

TEST(Space, HoldsExactlyWhatBruteForceFinds) {
    TunableSpace spec = make_space({numbers("A", range(1, 8)),
                                    numbers("B", {4, 2, 1}),
                                    numbers("C", range(0, 5)),
                                    {"F", {"-O2", "-O3"}, Tunable::Kind::flags}},
                                   {"A % B == 0 and C <= A", "C == 0 or A * B // C > 2",
                                    "F == '-O3' or B in (1, 4)", "not (A == 8 and B == 2)"});
    Space space(spec);
    std::set<Configuration> found;
    for (size_t i = 0; i < space.size(); ++i) found.insert(space.configuration(i));
    EXPECT_EQ(found.size(), space.size());
    EXPECT_EQ(found, brute_force(spec));
    EXPECT_FALSE(space.truncated());
    EXPECT_GT(space.size(), 50u);
}

TEST(Space, WithoutTunablesHasOneConfiguration) {
    Space space(TunableSpace{});
    ASSERT_EQ(space.size(), 1u);
    EXPECT_TRUE(space.configuration(0).empty());
    EXPECT_EQ(space.find({}), 0u);
    EXPECT_TRUE(space.neighbours(0).empty());
}

TEST(Space, MayBeEmpty) {
    EXPECT_EQ(Space(make_space({numbers("A", {1, 2})}, {"A > 2"})).size(), 0u);
    EXPECT_EQ(Space(make_space({numbers("A", {1, 2})}, {"1 == 2"})).size(), 0u);
    EXPECT_EQ(Space(make_space({}, {"1 == 2"})).size(), 0u);
}

TEST(Space, RefusesConstraintsThatCannotBeEvaluated) {
    EXPECT_THROW(Space(make_space({numbers("A", {1, 2})}, {"A < B"})), UsageError);
    EXPECT_THROW(Space(make_space({numbers("A", {0, 1})}, {"4 % A == 0"})), UsageError);
    EXPECT_THROW(Space(make_space({{"F", {"-O2"}, Tunable::Kind::flags}}, {"F * 2 == 4"})), UsageError);
}

TEST(Space, FindsEveryConfigurationAndNothingElse) {
    Space space(make_space({numbers("A", range(1, 9)), numbers("B", range(1, 9))}, {"A * B <= 20"}));
    for (size_t i = 0; i < space.size(); ++i) EXPECT_EQ(space.find(space.configuration(i)), i);
    EXPECT_EQ(space.find({{"A", int64_t{9}}, {"B", int64_t{9}}}), std::nullopt);
    EXPECT_EQ(space.find({{"A", int64_t{1}}}), std::nullopt);
    EXPECT_EQ(space.find({{"A", int64_t{1}}, {"C", int64_t{1}}}), std::nullopt);
    EXPECT_EQ(space.find({{"A", int64_t{1}}, {"B", int64_t{77}}}), std::nullopt);
}

TEST(Space, NeighboursDifferInOneTunable) {
    Space space(make_space({numbers("A", {1, 2, 4, 8}), numbers("B", {1, 2, 3})}, {"A * B <= 12"}));
    size_t index = *space.find({{"A", int64_t{4}}, {"B", int64_t{2}}});
    std::set<std::string> all, adjacent;
    for (size_t i : space.neighbours(index)) all.insert(describe(space.configuration(i)));
    for (size_t i : space.neighbours(index, true)) adjacent.insert(describe(space.configuration(i)));
    EXPECT_EQ(all, (std::set<std::string>{"A=1 B=2", "A=2 B=2", "A=4 B=1", "A=4 B=3"}));
    EXPECT_EQ(adjacent, (std::set<std::string>{"A=2 B=2", "A=4 B=1", "A=4 B=3"}));
}

TEST(Space, EnumeratesALargeConstrainedProductWithoutVisitingIt) {
    // A stencil with temporal tiling: 22.2 million combinations.
    std::vector<int64_t> block = {1, 2, 4, 8, 16};
    for (int64_t i = 1; i <= 32; ++i) block.push_back(32 * i);
    std::string bytes = "(BX*TX + 2*T) * (BY*TY + 2*T) * (2 + S) * 4";
    Space space(
        make_space({numbers("BX", block), numbers("BY", {1, 2, 4, 8, 16, 32}), numbers("TX", range(1, 10)),
                    numbers("TY", range(1, 10)), numbers("T", range(1, 10)), numbers("U", range(1, 10)),
                    numbers("S", {0, 1}), numbers("P", range(0, 4))},
                   {"32 <= BX * BY <= 1024", "T % U == 0", "BX * BY * P <= 2048", bytes + " <= 49152",
                    "P == 0 or " + bytes + " * P <= 98304"}));
    EXPECT_EQ(space.size(), 343974u);  // counted by nested loops in Python
    EXPECT_FALSE(space.truncated());
}

TEST(Space, AgreesWithAPublishedSpace) {
    // The convolution of the auto-tuning benchmark hub: 10,240 combinations, 4,362 valid.
    std::vector<int64_t> block;
    for (int64_t i = 1; i <= 16; ++i) block.push_back(16 * i);
    Space space(make_space(
        {numbers("block_size_x", block), numbers("block_size_y", {1, 2, 4, 8, 16}),
         numbers("tile_size_x", range(1, 4)), numbers("tile_size_y", range(1, 4)),
         numbers("read_only", {0, 1}), numbers("use_padding", {0, 1}), numbers("use_shmem", {0, 1})},
        {"use_padding == 0 or block_size_x % 32 != 0 and use_shmem == 1",
         "block_size_x * block_size_y <= 1024", "tile_size_x * tile_size_y < 30",
         "use_shmem == 0 or (block_size_x*tile_size_x + 14) * (block_size_y*tile_size_y + 14) * 4 <= "
         "49152"}));
    EXPECT_EQ(space.size(), 4362u);
}

TEST(Space, ThinsWhatIsTooLargeAndKeepsEveryValueOfTheFirst) {
    Space space(
        make_space({numbers("A", range(1, 10)), numbers("B", range(1, 10)), numbers("C", range(1, 100))}, {}),
        500);
    EXPECT_TRUE(space.truncated());
    EXPECT_LE(space.size(), 500u);
    EXPECT_GE(space.size(), 400u);
    std::set<int64_t> first;
    for (size_t i = 0; i < space.size(); ++i) first.insert(number(space.configuration(i), "A"));
    EXPECT_EQ(first.size(), 10u);
    EXPECT_TRUE(space.find({{"A", int64_t{1}}, {"B", int64_t{1}}, {"C", int64_t{1}}}).has_value());
}

// ---- searchers ---------------------------------------------------------------------------------------

// A rugged bowl with a failing corner; the best of all is where A == 48, B == 6, C == 3.
double bowl(const Configuration& configuration) {
    double a = static_cast<double>(number(configuration, "A")),
           b = static_cast<double>(number(configuration, "B"));
    double c = static_cast<double>(number(configuration, "C"));
    if (a > 56 && b > 8) return std::numeric_limits<double>::infinity();
    double slope = std::fabs(std::log2(a / 48)) + 0.1 * std::fabs(b - 6) + 0.2 * std::fabs(c - 3);
    return 100 * (1 + slope) * (number(configuration, "A") % 16 == 0 ? 1 : 1.15);
}

TunableSpace bowl_space() {
    std::vector<int64_t> a;
    for (int64_t i = 1; i <= 16; ++i) a.push_back(4 * i);
    return make_space({numbers("A", a), numbers("B", range(1, 12)), numbers("C", range(0, 7))}, {});
}

double best_after(Searcher& searcher, size_t evaluations, size_t batch,
                  double (*cost)(const Configuration&)) {
    double best = std::numeric_limits<double>::infinity();
    for (size_t done = 0; done < evaluations;) {
        std::vector<Configuration> next = searcher.propose(batch);
        if (next.empty()) break;
        for (const Configuration& configuration : next) {
            double own = cost(configuration);
            searcher.tell(configuration, own);
            best = std::min(best, own);
        }
        done += next.size();
    }
    return best;
}

Configuration corner() { return {{"A", int64_t{4}}, {"B", int64_t{1}}, {"C", int64_t{0}}}; }

TEST(Searcher, BeginsWithTheInitialConfiguration) {
    auto searcher = make_searcher(bowl_space(), corner(), 1);
    EXPECT_EQ(searcher->propose(3).at(0), corner());
    EXPECT_EQ(searcher->best(), std::nullopt);
}

TEST(Searcher, FindsTheBestOfALargeSpaceInAFewPercentOfIt) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        auto searcher = make_searcher(bowl_space(), corner(), seed);
        double best = best_after(*searcher, 90, 2, bowl);
        EXPECT_LE(best, 110) << seed;  // of 1536 configurations
        EXPECT_EQ(bowl(*searcher->best()), best);
    }
}

TEST(Searcher, IsRepeatable) {
    auto a = make_searcher(bowl_space(), corner(), 3), b = make_searcher(bowl_space(), corner(), 3);
    for (int i = 0; i < 40; ++i) {
        std::vector<Configuration> x = a->propose(2), y = b->propose(2);
        ASSERT_EQ(x, y);
        for (const Configuration& configuration : x) {
            a->tell(configuration, bowl(configuration));
            b->tell(configuration, bowl(configuration));
        }
    }
}

TEST(Searcher, NeverProposesTwiceAndEndsWhenAllWereProposed) {
    TunableSpace spec = make_space({numbers("A", range(1, 6)), numbers("B", range(1, 6))}, {"A <= B"});
    auto searcher = make_searcher(spec, {{"A", int64_t{1}}, {"B", int64_t{1}}}, 5);
    std::set<Configuration> seen;
    for (;;) {
        std::vector<Configuration> next = searcher->propose(4);
        if (next.empty()) break;
        for (const Configuration& configuration : next) {
            EXPECT_TRUE(seen.insert(configuration).second) << describe(configuration);
            searcher->tell(configuration, 10.0 + static_cast<double>(number(configuration, "A")));
        }
        ASSERT_LE(seen.size(), 21u);
    }
    EXPECT_EQ(seen.size(), 21u);
    EXPECT_TRUE(searcher->converged());
}

TEST(Searcher, DoesNotProposeWhatItWasTold) {
    TunableSpace spec = make_space({numbers("A", range(1, 4))}, {});
    auto searcher = make_searcher(spec, {{"A", int64_t{1}}}, 5);
    searcher->tell({{"A", int64_t{1}}}, 3);
    searcher->tell({{"A", int64_t{3}}}, 2);
    std::vector<Configuration> rest = searcher->propose(9);
    EXPECT_EQ(rest.size(), 2u);
    EXPECT_EQ(number(*searcher->best(), "A"), 3);
}

TEST(Searcher, HasNoBestWhileEverythingFailsAndGoesOn) {
    auto searcher = make_searcher(bowl_space(), corner(), 2);
    std::set<Configuration> seen;
    for (int i = 0; i < 30; ++i)
        for (const Configuration& configuration : searcher->propose(2)) {
            EXPECT_TRUE(seen.insert(configuration).second);
            searcher->tell(configuration, std::numeric_limits<double>::infinity());
        }
    EXPECT_EQ(seen.size(), 60u);
    EXPECT_EQ(searcher->best(), std::nullopt);
    EXPECT_FALSE(searcher->converged());
}

TEST(Searcher, TakesARevisedCost) {
    auto searcher = make_searcher(bowl_space(), corner(), 2);
    Configuration other = corner();
    other["B"] = int64_t{2};
    searcher->tell(corner(), 5);
    searcher->tell(other, 7);
    EXPECT_EQ(searcher->best(), corner());
    searcher->tell(corner(), 9);
    EXPECT_EQ(searcher->best(), other);
}

TEST(Searcher, ConvergesBeforeItHasSeenEverything) {
    auto searcher = make_searcher(bowl_space(), corner(), 4);
    size_t evaluations = 0;
    while (!searcher->converged() && evaluations < 1536) {
        std::vector<Configuration> next = searcher->propose(1);
        ASSERT_EQ(next.size(), 1u);
        searcher->tell(next[0], bowl(next[0]));
        ++evaluations;
    }
    EXPECT_LT(evaluations, 300u);
    EXPECT_EQ(bowl(*searcher->best()), 100);
}

}  // namespace
}  // namespace strop::tune
