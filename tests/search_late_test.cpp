// Answers that come while the search goes on.
#include "fakes/search_fixture.h"

namespace strop::search {
namespace {

// Playbook and models: the latter's answers come later.
struct LateFixture : Fixture {
    FakeProposer models;

    explicit LateFixture(std::vector<Proposal> planned) : models(std::move(planned)) {
        models.later = models.costs = models.advises_others = true;
        models.evaluations = [this] { return static_cast<size_t>(recorder.evaluations); };
    }
    Result run() { return search::run(points, {&proposer, &models}, evaluator, settings, targets, recorder); }
    long measured(const std::string& kernel) const {
        return std::count(recorder.order.begin(), recorder.order.end(), kernel);
    }
};

TEST(Late, TheSearchGoesOnWhileAnswersAreOpen) {
    LateFixture f({proposal("serial_late", unrolls())});
    f.models.delay = 3;
    Result result = f.run();
    EXPECT_EQ(f.models.waits, 0);
    const auto at =
        std::find(f.recorder.order.begin(), f.recorder.order.end(), "serial_late") - f.recorder.order.begin();
    EXPECT_TRUE(at >= 8 && at < 16) << at;  // some batches later, and ahead of what else is to be tuned
    EXPECT_EQ(f.measured("serial_late"), 6);
    EXPECT_EQ(result.stopped_by, "exhausted");
}

TEST(Late, ItWaitsOnlyWhenAllIsMeasured) {
    LateFixture f({proposal("serial_late", unrolls())});
    f.models.delay = 1000;
    Result result = f.run();
    ASSERT_FALSE(f.models.waited_for.empty());
    EXPECT_EQ(f.models.waited_for[0], 18u);  // three kernels of six configurations
    EXPECT_EQ(f.measured("serial_late"), 6);
    EXPECT_EQ(result.stopped_by, "exhausted");
}

TEST(Late, AModelMayBeAllThereIs) {
    LateFixture f({proposal("serial_late", unrolls())});
    f.proposer = FakeProposer({});
    f.models.delay = 1000;
    EXPECT_EQ(f.run().evaluations, 6);
    EXPECT_EQ(f.recorder.order.size(), 6u);
}

TEST(Late, ADeepeningThatComesLateCompetes) {
    LateFixture f({});
    f.models.deepened["parallel"] = {proposal("parallel+late", unrolls())};
    f.models.delay = 5;
    Result result = f.run();
    EXPECT_EQ(find(result, "parallel+late").parent, "parallel");
    EXPECT_EQ(f.measured("parallel+late"), 6);
    // Asked once until it answered, and once more for what came of it.
    EXPECT_EQ(std::count(f.models.asked.begin(), f.models.asked.end(), "parallel+late"), 1);
}

TEST(Late, WhatIsAtRepairIsNotTriedMeanwhile) {
    LateFixture f({proposal("late_bad", unrolls())});
    f.evaluator.judgement = [](const Kernel& kernel, const Configuration&, const ShapePoint&) {
        return kernel.id == "late_bad" ? Verdict::compile_failed : Verdict::ok;
    };
    f.models.repaired["late_bad"] = proposal("serial_mended", unrolls());
    f.models.delay = 1000;
    Result result = f.run();
    EXPECT_EQ(f.models.broken.size(), 1u);
    EXPECT_LE(f.measured("late_bad"), 4);
    EXPECT_EQ(find(result, "late_bad").reason, "compile_failed: first line; mended as serial_mended");
    EXPECT_EQ(f.measured("serial_mended"), 6);
}

TEST(Late, EvaluationsAreKeptForWhatIsToCome) {
    LateFixture f({proposal("serial_late"), proposal("parallel_late")});
    f.models.delay = 1000;
    f.settings.evaluations = 7;
    Result result = f.run();
    EXPECT_EQ(f.models.waited_for, (std::vector<size_t>{5, 6}));
    EXPECT_EQ(f.measured("serial_late") + f.measured("parallel_late"), 2);
    EXPECT_EQ(result.evaluations, 7);
    EXPECT_EQ(result.stopped_by, "evaluations");
}

TEST(Late, WhatWasPaidForIsAwaitedBeforeATargetOrTheLastRoundEndsTheSearch) {
    for (bool target : {true, false}) {
        LateFixture f({proposal("serial_late")});
        f.models.delay = 1000;
        f.models.deepened["serial"] = {proposal("never")};  // nothing more is asked for
        if (!target) f.settings.rounds = 1;
        if (target) f.settings.target_speedup = 1.01;
        for (const ShapePoint& point : points) f.targets.baseline_ns[point.label] = 1e9;
        Result result = f.run();
        EXPECT_EQ(result.stopped_by, target ? "target" : "rounds");
        EXPECT_EQ(f.measured("serial_late"), 1);
        EXPECT_EQ(f.measured("never"), 0);
        EXPECT_TRUE(f.models.asked.empty());
        EXPECT_EQ(f.models.scored, 0);
    }
}

TEST(Late, ATargetEndsTheSearchAlsoWhereNothingComes) {
    LateFixture f({proposal("serial")});  // that is known
    f.models.delay = 1000;
    f.settings.target_speedup = 1.01;
    for (const ShapePoint& point : points) f.targets.baseline_ns[point.label] = 1e9;
    Result result = f.run();
    EXPECT_EQ(result.stopped_by, "target");
    EXPECT_EQ(result.evaluations, 18);
}

TEST(Late, TimeEndsTheWaiting) {
    struct Mute : FakeProposer {
        using FakeProposer::FakeProposer;
        std::vector<Answer> arrived(bool wait) override {
            *seconds -= wait;
            return {};
        }
        double* seconds = nullptr;
    } mute({proposal("never")});
    Fixture f;
    f.recorder.seconds = 3;
    mute.later = mute.costs = true;
    mute.seconds = &f.recorder.seconds;
    Result result = search::run(points, {&f.proposer, &mute}, f.evaluator, f.settings, f.targets, f.recorder);
    EXPECT_EQ(result.stopped_by, "budget");
    EXPECT_EQ(result.evaluations, 18);
}

TEST(Late, AnOpinionIsAskedForOnlyWhereThereIsAChoice) {
    const std::vector<Tunable> many = {unrolls()[0], numbers("V", {1, 2, 3, 4, 5, 6, 7, 8})};
    for (bool choice : {true, false}) {
        LateFixture f({});
        f.proposer = FakeProposer({proposal("serial", many)});
        if (choice) f.proposer = FakeProposer({proposal("serial", many), proposal("parallel", many)});
        f.run();
        EXPECT_EQ(f.models.scored > 0, choice);
    }
}

TEST(Late, IsRepeatable) {
    auto order = [] {
        LateFixture f({proposal("serial_late", unrolls()), proposal("other_late", unrolls())});
        f.models.delay = 2;
        f.models.deepened["parallel"] = {proposal("parallel+late", unrolls())};
        f.run();
        return f.recorder.order;
    };
    EXPECT_EQ(order(), order());
}

}  // namespace
}  // namespace strop::search
