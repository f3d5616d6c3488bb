#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "fakes/fake_proposer.h"
#include "tune/explain.h"
#include "tune/replay.h"
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
    for (const std::string& constraint : constraints) space.constraints.push_back(Expression::parse(constraint));
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
    TunableSpace spec = make_space(
        {numbers("A", range(1, 8)),
         numbers("B", {4, 2, 1}),
         numbers("C", range(0, 5)),
         {"F", {"-O2", "-O3"}, Tunable::Kind::flags}},
        {"A % B == 0 and C <= A", "C == 0 or A * B // C > 2", "F == '-O3' or B in (1, 4)", "not (A == 8 and B == 2)"});
    Space space(spec);
    std::set<Configuration> found;
    for (size_t i = 0; i < space.size(); ++i) found.insert(space.configuration(i));
    EXPECT_EQ(found.size(), space.size());
    EXPECT_EQ(found, brute_force(spec));
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
    // The stencil with temporal tiling of the auto-tuning benchmark hub: 22.2 million combinations.
    std::vector<int64_t> block = {1, 2, 4, 8, 16};
    for (int64_t i = 1; i <= 32; ++i) block.push_back(32 * i);
    std::string bytes = "(BX*TX + 2*T) * (BY*TY + 2*T) * (2 + S) * 4";
    Space space(make_space(
        {numbers("BX", block), numbers("BY", {1, 2, 4, 8, 16, 32}), numbers("TX", range(1, 10)),
         numbers("TY", range(1, 10)), numbers("T", range(1, 10)), numbers("U", range(1, 10)), numbers("S", {0, 1}),
         numbers("P", range(0, 4))},
        {"32 <= BX * BY <= 1024", "T % U == 0", bytes + " <= 49152", "P == 0 or " + bytes + " * P <= 102400"}));
    EXPECT_EQ(space.size(), 349853u);  // as published
}

TEST(Space, AgreesWithAPublishedSpace) {
    // The convolution of the auto-tuning benchmark hub: 10,240 combinations, 4,362 valid.
    std::vector<int64_t> block;
    for (int64_t i = 1; i <= 16; ++i) block.push_back(16 * i);
    Space space(
        make_space({numbers("block_size_x", block), numbers("block_size_y", {1, 2, 4, 8, 16}),
                    numbers("tile_size_x", range(1, 4)), numbers("tile_size_y", range(1, 4)),
                    numbers("read_only", {0, 1}), numbers("use_padding", {0, 1}), numbers("use_shmem", {0, 1})},
                   {"use_padding == 0 or block_size_x % 32 != 0 and use_shmem == 1",
                    "block_size_x * block_size_y <= 1024", "tile_size_x * tile_size_y < 30",
                    "use_shmem == 0 or (block_size_x*tile_size_x + 14) * (block_size_y*tile_size_y + 14) * 4 <= "
                    "49152"}));
    EXPECT_EQ(space.size(), 4362u);
}

// `pairs` independent pairs of which one divides the other.
TunableSpace divisors(int pairs) {
    std::vector<Tunable> tunables;
    std::vector<std::string> constraints;
    for (int i = 0; i < pairs; ++i) {
        std::string a = "A" + std::to_string(i), b = "B" + std::to_string(i);
        tunables.push_back(numbers(a, range(1, 60)));
        tunables.push_back(numbers(b, range(1, 60)));
        constraints.push_back(a + " % " + b + " == 0");
    }
    return make_space(tunables, constraints);
}

TEST(Space, CountsAndNumbersWhatNobodyCouldEnumerate) {
    Space space(divisors(7));
    size_t expected = 1;
    for (int i = 0; i < 7; ++i) expected *= 261;  // pairs up to 60 of which one divides the other
    EXPECT_EQ(space.size(), expected);
    for (size_t index : {size_t{0}, expected / 3, expected - 1})
        EXPECT_EQ(space.find(space.configuration(index)), index);
    EXPECT_FALSE(space.neighbours(expected / 3).empty());
    EXPECT_THROW(Space(divisors(8)), UsageError);  // more than 64 bits count
    const std::vector<int64_t> many = range(0, 99);
    const TunableSpace three =
        make_space({numbers("A", many), numbers("B", many), numbers("C", many)}, {"A * B == C * 7 + 1"});
    EXPECT_GT(Space(three).size(), 0u);
    EXPECT_THROW(Space(three, 100000), UsageError);  // nothing is known before the last
}

TEST(Space, HoldsWhatWasMeasured) {
    std::vector<Tunable> tunables = {numbers("A", {1, 2, 4}), numbers("B", {3, 5})};
    Configuration one = {{"A", int64_t{4}}, {"B", int64_t{3}}}, other = {{"A", int64_t{1}}, {"B", int64_t{5}}};
    Space space(tunables, {one, other, one});
    EXPECT_EQ(space.size(), 2u);
    EXPECT_TRUE(space.find(one) && space.find(other));
    EXPECT_EQ(space.find({{"A", int64_t{4}}, {"B", int64_t{5}}}), std::nullopt);
    EXPECT_THROW(Space(tunables, {{{"A", int64_t{3}}, {"B", int64_t{3}}}}), UsageError);
}

// ---- searchers ---------------------------------------------------------------------------------------

// A rugged bowl with a failing corner; the best of all is where A == 48, B == 6, C == 3.
double bowl(const Configuration& configuration) {
    double a = static_cast<double>(number(configuration, "A")), b = static_cast<double>(number(configuration, "B"));
    double c = static_cast<double>(number(configuration, "C"));
    if (a > 56 && b > 8) return std::numeric_limits<double>::infinity();
    double slope = std::fabs(std::log2(a / 48)) + 0.1 * std::fabs(b - 6) + 0.2 * std::fabs(c - 3);
    return 100 * (1 + slope) * (number(configuration, "A") % 16 == 0 ? 1 : 1.15);
}

struct Search {
    Space space;
    std::unique_ptr<Searcher> searcher;

    Search(const TunableSpace& spec, const Configuration& initial, uint64_t seed,
           const std::vector<EarlierRun>& earlier = {})
        : space(spec),
          searcher(make_searcher(space, {initial, seed, earlier})) {}
    Search(const TunableSpace& spec, uint64_t seed) : space(spec), searcher(make_searcher(space, {{}, seed, {}})) {}
    Searcher* operator->() { return searcher.get(); }
    Searcher& operator*() { return *searcher; }
};

TunableSpace bowl_space() {
    std::vector<int64_t> a;
    for (int64_t i = 1; i <= 16; ++i) a.push_back(4 * i);
    return make_space({numbers("A", a), numbers("B", range(1, 12)), numbers("C", range(0, 7))}, {});
}

double best_after(Searcher& searcher, size_t evaluations, size_t batch, double (*cost)(const Configuration&)) {
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
    Search searcher(bowl_space(), corner(), 1);
    EXPECT_EQ(searcher->propose(3).at(0), corner());
    EXPECT_EQ(searcher->best(), std::nullopt);
}

TEST(Searcher, FindsTheBestOfALargeSpaceInAFewPercentOfIt) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
        Search searcher(bowl_space(), corner(), seed);
        double best = best_after(*searcher, 90, 2, bowl);
        EXPECT_LE(best, 110) << seed;  // of 1536 configurations
        EXPECT_EQ(bowl(*searcher->best()), best);
    }
}

TEST(Searcher, IsRepeatable) {
    Search a(bowl_space(), corner(), 3), b(bowl_space(), corner(), 3);
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
    Search searcher(spec, {{"A", int64_t{1}}, {"B", int64_t{1}}}, 5);
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
    Search searcher(spec, {{"A", int64_t{1}}}, 5);
    searcher->tell({{"A", int64_t{1}}}, 3);
    searcher->tell({{"A", int64_t{3}}}, 2);
    std::vector<Configuration> rest = searcher->propose(9);
    EXPECT_EQ(rest.size(), 2u);
    EXPECT_EQ(number(*searcher->best(), "A"), 3);
}

TEST(Searcher, HasNoBestWhileEverythingFailsAndGoesOn) {
    Search searcher(bowl_space(), corner(), 2);
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
    Search searcher(bowl_space(), corner(), 2);
    Configuration other = corner();
    other["B"] = int64_t{2};
    searcher->tell(corner(), 5);
    searcher->tell(other, 7);
    EXPECT_EQ(searcher->best(), corner());
    searcher->tell(corner(), 9);
    EXPECT_EQ(searcher->best(), other);
}

TEST(Searcher, ConvergesBeforeItHasSeenEverything) {
    Search searcher(bowl_space(), corner(), 4);
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

// Every configuration of the bowl with its cost.
MeasuredSpace measured_bowl(double factor = 1) {
    MeasuredSpace measured;
    measured.kernel = "bowl";
    measured.space = bowl_space();
    Space space(measured.space);
    for (size_t i = 0; i < space.size(); ++i) {
        Measured entry;
        entry.configuration = space.configuration(i);
        entry.value = factor * bowl(entry.configuration);
        if (std::isinf(entry.value)) entry.failure = Measured::Failure::runtime;
        measured.entries.push_back(entry);
    }
    return measured;
}

TEST(Searcher, ProposesWhatEarlierRunsFoundBest) {
    Search searcher(bowl_space(), corner(), 1, {as_earlier_run(measured_bowl(7))});
    std::vector<Configuration> first = searcher->propose(2);
    EXPECT_EQ(first.at(0), corner());
    EXPECT_EQ(bowl(first.at(1)), 100);
}

TEST(Searcher, IgnoresEarlierRunsWithOtherTunables) {
    EarlierRun other{{{{"A", int64_t{4}}, {"Z", int64_t{1}}}}, {1.0}};
    Search with(bowl_space(), corner(), 3, {other}), without(bowl_space(), corner(), 3);
    for (int i = 0; i < 30; ++i) {
        std::vector<Configuration> a = with->propose(1), b = without->propose(1);
        ASSERT_EQ(a, b);
        with->tell(a[0], bowl(a[0]));
        without->tell(b[0], bowl(b[0]));
    }
}

TEST(Searcher, IsNotKeptFromTheBestByMisleadingEarlierRuns) {
    EarlierRun wrong = as_earlier_run(measured_bowl());
    for (double& cost : wrong.costs)
        if (cost < std::numeric_limits<double>::infinity()) cost = 1e4 / cost;  // the best looks worst
    Search searcher(bowl_space(), corner(), 2, {wrong});
    EXPECT_LE(best_after(*searcher, 120, 1, bowl), 115);
}

// The same measurements: once the best came last, once first and nothing was gained since.
TEST(Searcher, BelievesEarlierRunsLessWhileNothingIsGained) {
    const MeasuredSpace measured = measured_bowl();
    auto cost = [](const Configuration& c) {  // not quite what the earlier run says
        const double a = static_cast<double>(number(c, "A")), b = static_cast<double>(number(c, "B"));
        return bowl(c) * (1 + 0.5 * std::fmod(0.618 * (7 * a + 31 * b), 1.0));
    };
    auto next = [&](bool gained, const std::vector<EarlierRun>& earlier) {
        Search search(bowl_space(), corner(), 3, earlier);
        std::vector<Configuration> order = {corner()};
        for (size_t i = 0; i < measured.entries.size(); i += 37) order.push_back(measured.entries[i].configuration);
        std::stable_sort(order.begin(), order.end(), [&](const Configuration& a, const Configuration& b) {
            return gained ? cost(a) > cost(b) : cost(a) < cost(b);
        });
        for (const Configuration& configuration : order) search->tell(configuration, cost(configuration));
        return search->propose(8);
    };
    const std::vector<EarlierRun> earlier = {as_earlier_run(measured_bowl(7))};
    EXPECT_EQ(next(true, {}), next(false, {}));
    EXPECT_NE(next(true, earlier), next(false, earlier));
}

TEST(Searcher, WorksInASpaceThatNobodyCouldEnumerate) {
    TunableSpace spec = divisors(7);
    Search searcher(spec, 1);
    for (int i = 0; i < 40; ++i)
        for (const Configuration& configuration : searcher->propose(1))
            searcher->tell(configuration, 100.0 + static_cast<double>(number(configuration, "A0")));
    EXPECT_LE(number(*searcher->best(), "A0"), 4);
}

// ---- replay and explanation --------------------------------------------------------------------------

TEST(Replay, CountsFailuresAndKeepsTheBest) {
    MeasuredSpace measured = measured_bowl();
    Replay result = replay(measured, 100, {std::nullopt, 4, {}});
    ASSERT_EQ(result.trajectory.size(), 100u);
    EXPECT_EQ(result.optimum, 100);
    EXPECT_EQ(result.best, bowl(result.configuration));
    EXPECT_EQ(result.trajectory.back(), result.best);
    EXPECT_LE(result.best, 110);
    std::set<size_t> distinct(result.measured.begin(), result.measured.end());
    EXPECT_EQ(distinct.size(), 100u);
    for (size_t i = 1; i < 100; ++i)
        if (!std::isnan(result.trajectory[i - 1])) {
            EXPECT_LE(result.trajectory[i], result.trajectory[i - 1]);
        }
}

TEST(Replay, EndsWithTheSpaceAndTurnsRatesAround) {
    MeasuredSpace measured;
    measured.kernel = "k";
    measured.objective = "GFLOP/s";
    measured.higher_is_better = true;
    measured.space = make_space({numbers("A", {1, 2, 3})}, {});
    for (int64_t a : {1, 2, 3}) {
        Measured entry;
        entry.configuration = {{"A", a}};
        entry.value = static_cast<double>(10 * a);
        measured.entries.push_back(entry);
    }
    Replay result = replay(measured, 100, {});
    EXPECT_EQ(result.trajectory.size(), 3u);
    EXPECT_EQ(result.optimum, 30);
    EXPECT_EQ(result.best, 30);
}

TEST(Replay, RefusesASpaceOfFailures) {
    MeasuredSpace measured = measured_bowl();
    for (Measured& entry : measured.entries) entry.failure = Measured::Failure::compile;
    EXPECT_THROW(replay(measured, 10, {}), UsageError);
}

TEST(Explain, FindsWhatMatters) {
    TunableSpace spec =
        make_space({numbers("A", range(1, 8)), numbers("B", range(1, 8)), numbers("C", range(1, 8))}, {});
    Space space(spec);
    std::vector<size_t> rows;
    std::vector<double> costs;
    for (size_t i = 0; i < space.size(); i += 3) {
        Configuration c = space.configuration(i);
        rows.push_back(i);
        costs.push_back(
            std::exp(0.5 * static_cast<double>(number(c, "A")) + 0.1 * static_cast<double>(number(c, "B"))));
    }
    costs[5] = std::numeric_limits<double>::infinity();
    Explanation explanation = explain(space, rows, costs);
    EXPECT_EQ(explanation.measured, rows.size() - 1);
    EXPECT_LT(explanation.error, 0.05);
    ASSERT_GE(explanation.impacts.size(), 2u);
    EXPECT_EQ(explanation.impacts[0].tunables, std::vector<std::string>{"A"});
    EXPECT_NEAR(explanation.impacts[0].share, 25.0 / 26, 0.02);  // variances of 0.5 A and 0.1 B
    EXPECT_EQ(explanation.impacts[1].tunables, std::vector<std::string>{"B"});
    for (const ValueEffect& effect : explanation.values)
        if (effect.tunable == "A" && effect.value == Value(int64_t{8})) {
            EXPECT_NEAR(effect.ratio, std::exp(3.5), 2);
        }
}

TEST(Explain, SaysNothingOfTooFewOrOfWhatIsAllTheSame) {
    Space space(make_space({numbers("A", range(1, 20))}, {}));
    EXPECT_TRUE(explain(space, {0, 1, 2}, {1, 2, 3}).impacts.empty());
    std::vector<size_t> rows;
    for (size_t i = 0; i < 20; ++i) rows.push_back(i);
    EXPECT_TRUE(explain(space, rows, std::vector<double>(20, 5.0)).impacts.empty());
}

}  // namespace
}  // namespace strop::tune
