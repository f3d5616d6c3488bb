#include <cmath>

#include <gtest/gtest.h>

#include "fakes/fake_proposer.h"
#include "tune/model.h"
#include "tune/posterior.h"
#include "tune/prior.h"

namespace strop::tune {
namespace {

using fakes::numbers;

TEST(Covariance, IsMatern52) {
    for (float squared = 0; squared < 400; squared += 0.37f) {
        double r = std::sqrt(5.0 * squared);
        EXPECT_NEAR(matern52(squared), (1 + r + r * r / 3) * std::exp(-r), 1e-6) << squared;
    }
    EXPECT_FLOAT_EQ(matern52(0), 1);
    for (float x = 0; x < 80; x += 0.11f) EXPECT_NEAR(exp_of_minus(x) / std::exp(-x), 1, 1e-5) << x;
    EXPECT_LT(exp_of_minus(1e30f), 1e-30f);
}

TEST(Covariance, KnowsHowFarNumbersAreApartButNotWords) {
    Positions positions({numbers("A", {16, 1, 4}), {"W", {"x", "y", "z"}}, numbers("B", {0, 1})});
    EXPECT_EQ(positions.squared_step(0, 0, 1), 1);
    EXPECT_EQ(positions.squared_step(0, 0, 2), 0.25f);
    EXPECT_EQ(positions.squared_step(1, 0, 1), positions.squared_step(1, 0, 2));
    EXPECT_EQ(positions.squared_step(2, 0, 1), 0.25f);
    EXPECT_EQ(positions.squared_step(1, 2, 2), 0);
}

TEST(Cholesky, GrowsAndSolves) {
    std::vector<std::vector<double>> matrix = {{4, 2, 0.6, 1}, {2, 5, 1, 0.2}, {0.6, 1, 3, -1}, {1, 0.2, -1, 6}};
    Cholesky factor;
    for (size_t i = 0; i < 4; ++i)
        factor.append({matrix[i].begin(), matrix[i].begin() + static_cast<std::ptrdiff_t>(i)}, matrix[i][i], 1e-9);
    std::vector<double> b = {1, -2, 3, 0.5}, x = factor.solve_transposed(factor.solve(b));
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(dot(matrix[i], x, 4), b[i], 1e-12);
    EXPECT_NEAR(std::exp(2 * factor.log_determinant()), 236.1744, 1e-3);
}

// A model of 15 × 15 × 2 configurations that saw every seventh, the last few one after the other.
struct Seen {
    Space space{TunableSpace{{numbers("A", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),
                              numbers("B", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}),
                              {"W", {"x", "y"}}},
                             {}}};
    CostModel model{space, nullptr};
    std::vector<size_t> rows;

    static double cost(const Configuration& c) {
        double a = static_cast<double>(std::get<int64_t>(c.at("A"))),
               b = static_cast<double>(std::get<int64_t>(c.at("B")));
        return 0.01 * ((a - 5) * (a - 5) + a * b) + (c.at("W") == Value("x") ? 0 : 0.3);
    }

    Seen() {
        for (size_t row = 0; row < space.size(); ++row) rows.push_back(row);
        for (size_t row = 0; row < 400; row += 7) observe(row);
        model.learn();
        model.set_candidates(rows);
        model.predict();
        for (size_t row = 400; row < space.size(); row += 7) {
            observe(row);
            model.predict();
        }
    }
    void observe(size_t row) { model.observe(row, cost(space.configuration(row))); }
};

TEST(CostModel, PredictsWhatItSawAndNearlyWhatItDidNot) {
    Seen seen;
    for (size_t row : seen.rows) {
        double error = std::fabs(seen.model.mean(row) - Seen::cost(seen.space.configuration(row)));
        EXPECT_LT(error, 0.1) << row;
        EXPECT_LE(error, 6 * seen.model.deviation(row) + 0.01) << row;
    }
}

TEST(CostModel, PredictsTheSameStepByStepAndAtOnce) {
    Seen seen;
    std::vector<double> means, deviations;
    for (size_t row : seen.rows) {
        means.push_back(seen.model.mean(row));
        deviations.push_back(seen.model.deviation(row));
    }
    seen.model.set_candidates(seen.rows);
    seen.model.predict();
    for (size_t row : seen.rows) {
        EXPECT_NEAR(seen.model.mean(row), means[row], 1e-3);
        EXPECT_NEAR(seen.model.deviation(row), deviations[row], 1e-2);
    }
}

TEST(CostModel, WhatIsExpectedChangesNoMeanUntilItIsMeasured) {
    Seen one, other;
    const size_t row = 3;  // a candidate too
    const double deviation = one.model.deviation(row);
    one.model.expect(row);
    other.model.observe(row, other.model.mean(row));
    auto are_alike = [&] {
        one.model.predict();
        other.model.predict();
        for (size_t candidate : one.rows) {
            EXPECT_NEAR(one.model.mean(candidate), other.model.mean(candidate), 1e-5) << candidate;
            EXPECT_NEAR(one.model.deviation(candidate), other.model.deviation(candidate), 1e-6) << candidate;
        }
    };
    are_alike();
    EXPECT_LT(one.model.deviation(row), 0.5 * deviation);
    const double before = one.model.mean(row);
    for (CostModel* model : {&one.model, &other.model}) model->revise(model->observations() - 1, before + 1);
    are_alike();
    EXPECT_GT(one.model.mean(row), before + 0.1);
}

TEST(CostModel, FindsTheHighestExpectedImprovementThatProbablyWorks) {
    Seen seen;
    std::vector<bool> excluded(seen.rows.size());
    std::vector<float> success;
    for (size_t row : seen.rows) success.push_back(row % 3 == 0 ? 1.0f : row % 3 == 1 ? 0.4f : 0.01f);
    for (const auto& [best, widening] : {std::pair{0.3, 1.0}, {0.1, 1.0}, {0.05, 1.0}, {0.1, 4.0}}) {
        auto improvement = [&](size_t row) {
            double spread = widening * seen.model.deviation(row), z = (best - seen.model.mean(row)) / spread;
            double below = 0.5 * std::erfc(-z / std::sqrt(2.0)), density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
            return success[row] * spread * (z * below + density);
        };
        for (int turn = 0; turn < 5; ++turn) {
            size_t expected = 0;
            for (size_t row : seen.rows)
                if (excluded[expected] || (!excluded[row] && improvement(row) > improvement(expected))) expected = row;
            ASSERT_EQ(seen.model.most_promising(best, widening, excluded, success), expected) << best;
            excluded[expected] = true;
        }
    }
    EXPECT_EQ(seen.model.most_promising(0.3, 1, std::vector<bool>(seen.rows.size(), true), success), std::nullopt);
    EXPECT_EQ(seen.model.most_promising(-9, 1, excluded, success), std::nullopt);  // beyond hope
}

// What another machine measured of the same space: costs in the same order, and far apart at the upper end.
EarlierRun stretched(const Seen& seen, double power) {
    EarlierRun run;
    for (size_t row : seen.rows) {
        run.configurations.push_back(seen.space.configuration(row));
        run.costs.push_back(std::exp(std::pow(1 + Seen::cost(run.configurations.back()), power)));
    }
    return run;
}

TEST(Prior, GivesLogCostsAndRanksOfTheSameSpread) {
    Seen seen;
    const EarlierRun run = stretched(seen, 1);
    const Prior prior(seen.space, {run, run});
    double costs = 0, ranks = 0, sum = 0;
    for (size_t row : seen.rows) {
        const std::vector<double> scores = prior.scores(row);
        ASSERT_EQ(scores.size(), 4u);
        EXPECT_EQ(scores[0], scores[1]);
        EXPECT_EQ(scores[2], scores[3]);
        costs += scores[0] * scores[0];
        ranks += scores[2] * scores[2];
        sum += scores[2];
    }
    EXPECT_NEAR(costs, ranks, 1e-6 * costs);
    EXPECT_NEAR(sum, 0, 1e-6);
    auto cost = [&](size_t row) { return Seen::cost(seen.space.configuration(row)); };
    for (size_t row = 0; row + 40 < seen.rows.size(); row += 31)
        if (cost(row) < cost(row + 40)) {
            EXPECT_LE(prior.scores(row)[2], prior.scores(row + 40)[2]) << row;
        }
}

// Runs agree on B and W, and each has its own mind on A: so may the next one.
TEST(Prior, TellsInWhatRunsDifferFromEachOther) {
    Seen seen;
    std::vector<EarlierRun> runs;
    for (double own : {-1.0, 1.0, 3.0}) {
        EarlierRun& run = runs.emplace_back();
        for (size_t row : seen.rows) {
            const Configuration configuration = seen.space.configuration(row);
            const double a = static_cast<double>(std::get<int64_t>(configuration.at("A")));
            run.configurations.push_back(configuration);
            run.costs.push_back(std::exp(Seen::cost(configuration) + 0.2 * std::sin(own * a)));
        }
    }
    const Positions positions(seen.space.tunables());
    const Belief belief = Prior(seen.space, runs).between_runs(positions);
    EXPECT_GT(belief.weights.of[0], 5 * belief.weights.of[1]);
    EXPECT_GT(belief.weights.of[0], 5 * belief.weights.of[2]);
    EXPECT_GT(belief.scale, 0.05);
    EXPECT_LT(belief.scale, 0.5);
    EXPECT_GT(belief.scale_is_worth, 0);

    const Belief of_one = Prior(seen.space, {runs[0]}).between_runs(positions);
    EXPECT_EQ(of_one.weights.of, usual_weights(3).of);
    EXPECT_EQ(of_one.scale_is_worth, 0);
}

// Costs that no neighbour tells, in an order that another machine had as well: there the best were far better.
TEST(CostModel, LearnsFromTheOrderOfEarlierRunsWhereTheirCostsAreOthers) {
    Seen seen;
    auto cost = [](size_t row) { return std::fmod(0.618034 * static_cast<double>(row), 1.0); };
    EarlierRun run;
    for (size_t row : seen.rows) {
        run.configurations.push_back(seen.space.configuration(row));
        run.costs.push_back(std::pow(cost(row) + 1e-3, 3));
    }
    const Prior prior(seen.space, {run});
    CostModel model(seen.space, &prior);
    for (size_t row = 3; row < seen.rows.size(); row += 31) model.observe(row, cost(row));
    model.learn();
    model.set_candidates(seen.rows);
    model.predict();
    double error = 0;
    for (size_t row : seen.rows)
        error += std::fabs(model.mean(row) - cost(row)) / static_cast<double>(seen.rows.size());
    EXPECT_LT(error, 0.1);  // of log costs alone: 0.14
}

// A mean whose factors are normally distributed is part of the covariance: what is not known of it can be had from a
// larger matrix, without any mean.
TEST(CostModel, AddsWhatIsNotKnownOfTheMeanToTheVariance) {
    constexpr double trust = 0.5, unknown = 1e3;  // standard deviations of a run's multiple and of the constant
    Seen seen;
    const Prior earlier(seen.space, {stretched(seen, 1)});
    for (const Prior* prior : {&earlier, static_cast<const Prior*>(nullptr)}) {
        CostModel model(seen.space, prior);
        const std::vector<size_t> observed = {3, 71, 110, 207, 320, 333, 401};
        for (size_t row : observed) model.observe(row, Seen::cost(seen.space.configuration(row)));
        model.set_candidates(seen.rows);
        model.predict();
        auto covariance = [&](size_t a, size_t b) {
            const double own = prior ? prior->scores(a)[0] * prior->scores(b)[0] : 0;
            return model.similarity(a, b) + unknown * unknown + trust * trust * own;
        };
        Cholesky factor;
        for (size_t i = 0; i < observed.size(); ++i) {
            std::vector<double> left;
            for (size_t j = 0; j < i; ++j) left.push_back(covariance(observed[i], observed[j]));
            factor.append(std::move(left), covariance(observed[i], observed[i]) + usual_weights(3).noise, 1e-12);
        }
        auto variance = [&](size_t row) {
            std::vector<double> right;
            for (size_t other : observed) right.push_back(covariance(row, other));
            const std::vector<double> solved = factor.solve(right);
            return covariance(row, row) - dot(solved, solved, solved.size());
        };
        const double scale = model.deviation(200) / std::sqrt(variance(200));
        for (size_t row = 0; row < seen.rows.size(); row += 17)
            EXPECT_NEAR(model.deviation(row) / scale, std::sqrt(variance(row)), 2e-3) << row;
    }
}

TEST(CostModel, PredictsTheSameStepByStepAndAtOnceWithEarlierRuns) {
    Seen seen;
    const Prior prior(seen.space, {stretched(seen, 1), stretched(seen, 3)});
    CostModel model(seen.space, &prior);
    auto observe = [&](size_t row) { model.observe(row, Seen::cost(seen.space.configuration(row))); };
    for (size_t row = 0; row < 100; row += 7) observe(row);
    model.learn();
    model.set_candidates(seen.rows);
    model.predict();
    for (size_t row = 100; row < 300; row += 7) {
        observe(row);
        model.predict();
    }
    std::vector<double> means, deviations;
    for (size_t row : seen.rows) {
        means.push_back(model.mean(row));
        deviations.push_back(model.deviation(row));
    }
    model.set_candidates(seen.rows);
    model.predict();
    for (size_t row : seen.rows) {
        EXPECT_NEAR(model.mean(row), means[row], 1e-3);
        EXPECT_NEAR(model.deviation(row), deviations[row], 1e-2);
    }
}

TEST(Posterior, LearnsWhichTunablesMatter) {
    Seen seen;
    Positions positions(seen.space.tunables());
    std::vector<Point> points;
    std::vector<double> costs;
    for (size_t row = 0; row < seen.rows.size(); row += 5) {
        points.push_back(seen.space.coordinates(row));
        costs.push_back(std::sin(points.back()[0]));
    }
    Posterior posterior(positions, points, costs, {usual_weights(3)});
    Weights learned = most_probable(posterior, usual_weights(3));
    EXPECT_GT(learned.of[0], 10 * learned.of[1]);
    EXPECT_GT(learned.of[0], 10 * learned.of[2]);
    EXPECT_GT(posterior.log(learned), posterior.log(usual_weights(3)));
}

}  // namespace
}  // namespace strop::tune
