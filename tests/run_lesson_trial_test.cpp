#include "run/lesson_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strop {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Kernel kernel(const std::string& id) {
    Kernel made;
    made.id = made.strategy = id;
    made.space.tunables = {{"U", {int64_t{1}, int64_t{4}, int64_t{8}}}, {"V", {int64_t{1}, int64_t{2}}}};
    made.space.constraints = {Expression::parse("U * V <= 8")};
    made.initial = {{"U", int64_t{4}}, {"V", int64_t{2}}};
    return made;
}

Testable testable() {
    Testable made;
    made.problem.name = "softmax";
    made.problem.points = {{"small", {{"M", 1}}}, {"large", {{"M", 9}}}};
    for (const char* id : {"online", "passes"}) {
        Proposal proposal;
        proposal.strategy.id = id;
        proposal.kernel = kernel(id);
        made.strategies.push_back(proposal);
    }
    return made;
}

Lesson lesson(Lesson::Advice advice, Configuration values = {}) {
    Lesson made;
    made.advice = advice;
    made.strategy = "online";
    made.values = std::move(values);
    return made;
}

TEST(LessonTrial, sets_a_value_beside_the_own_choice) {
    const TrialPlan plan = plan_trial(lesson(Lesson::Advice::prefer, {{"U", int64_t{1}}}), testable(), "avx2");
    ASSERT_THAT(plan.contenders, SizeIs(2)) << plan.why_not;
    EXPECT_EQ(plan.contenders[0].name, "U=1");
    EXPECT_EQ(describe(plan.contenders[0].configuration), "U=1 V=2");
    EXPECT_EQ(plan.contenders[1].name, "U=4");
    EXPECT_THAT(plan.points, SizeIs(2));
}

TEST(LessonTrial, sets_the_own_choice_beside_the_other_values) {
    const TrialPlan plan = plan_trial(lesson(Lesson::Advice::prefer, {{"U", int64_t{4}}}), testable(), "avx2");
    ASSERT_THAT(plan.contenders, SizeIs(2)) << "U=8 cannot be with V=2";
    EXPECT_EQ(plan.contenders[1].name, "U=1");
}

TEST(LessonTrial, sets_a_strategy_beside_the_others) {
    const TrialPlan plan = plan_trial(lesson(Lesson::Advice::avoid), testable(), "avx2");
    ASSERT_THAT(plan.contenders, SizeIs(2));
    EXPECT_EQ(plan.contenders[1].name, "passes");
    Testable alone = testable();
    alone.strategies.pop_back();
    EXPECT_EQ(plan_trial(lesson(Lesson::Advice::avoid), alone, "avx2").why_not, "there is nothing to compare it with");
    Testable partial = testable();
    partial.problem.dimensions = {"M"};
    partial.strategies[0].kernel.condition = Expression::parse("M > 1");
    EXPECT_THAT(plan_trial(lesson(Lesson::Advice::avoid), partial, "avx2").points, SizeIs(1));
    std::swap(partial.strategies[0].kernel.condition, partial.strategies[1].kernel.condition);
    EXPECT_THAT(plan_trial(lesson(Lesson::Advice::avoid), partial, "avx2").contenders, SizeIs(1)) << "not everywhere";
    partial.strategies[0].kernel.condition = Expression::parse("M > 99");
    EXPECT_EQ(plan_trial(lesson(Lesson::Advice::avoid), partial, "avx2").why_not,
              "it is for none of the shapes of softmax");
}

TEST(LessonTrial, says_why_it_cannot_be) {
    Lesson other = lesson(Lesson::Advice::prefer);
    other.when.hardware = "neon";
    EXPECT_EQ(plan_trial(other, testable(), "avx2").why_not, "it is about neon, and this machine has avx2");
    EXPECT_THAT(plan_trial(lesson(Lesson::Advice::prefer, {{"U", int64_t{8}}}), testable(), "avx2").why_not,
                HasSubstr("cannot have it"));
    other = lesson(Lesson::Advice::prefer);
    other.strategy = "gone";
    EXPECT_EQ(plan_trial(other, testable(), "avx2").why_not, "softmax has no strategy gone");
}

class Judged : public testing::Test {
protected:
    // Ratios of the first over each other one, at one point.
    Trial judge(Lesson::Advice advice, const std::vector<Ratio>& ratios) {
        TrialPlan plan;
        PointComparison point;
        for (size_t i = 0; i <= ratios.size(); ++i) {
            plan.contenders.push_back({"c" + std::to_string(i), "", {}, {}});
            ContenderResult& result = point.results.emplace_back();
            if (i > 0) result.speedup = ratios[i - 1];
            result.verdict = verdicts_.size() > i ? verdicts_[i] : Verdict::ok;
        }
        Comparison comparison;
        comparison.points = {point};
        return judge_trial(lesson(advice), plan, comparison, "softmax");
    }
    std::vector<Verdict> verdicts_;
};

TEST_F(Judged, by_a_clear_difference) {
    using Kind = Testimony::Kind;
    const Ratio faster{1.2, 1.1, 1.3}, slower{0.8, 0.7, 0.9}, close{1.02, 1.01, 1.03}, wide{1.2, 0.9, 1.5};
    const Lesson::Advice prefer = Lesson::Advice::prefer, avoid = Lesson::Advice::avoid;
    EXPECT_EQ(judge(prefer, {faster}).kind, Kind::confirms);
    EXPECT_EQ(judge(prefer, {slower}).kind, Kind::contradicts);
    EXPECT_EQ(judge(prefer, {close}).kind, Kind::undecided);
    EXPECT_EQ(judge(prefer, {wide}).kind, Kind::undecided);
    EXPECT_EQ(judge(prefer, {faster, close}).kind, Kind::undecided);
    EXPECT_EQ(judge(prefer, {faster, slower}).kind, Kind::contradicts);
    EXPECT_EQ(judge(avoid, {faster, slower}).kind, Kind::confirms);
    EXPECT_EQ(judge(avoid, {faster}).kind, Kind::contradicts);
    EXPECT_EQ(judge(avoid, {close}).kind, Kind::undecided);
    EXPECT_EQ(judge(prefer, {faster, slower}).note, "0.80 (0.70–0.90) times as fast as c2 on softmax");
}

TEST_F(Judged, not_where_it_did_not_run) {
    verdicts_ = {Verdict::crashed};
    EXPECT_EQ(judge(Lesson::Advice::prefer, {{1.2, 1.1, 1.3}}).kind, Testimony::Kind::undecided);
    verdicts_ = {Verdict::ok, Verdict::crashed};
    EXPECT_EQ(judge(Lesson::Advice::prefer, {{1.2, 1.1, 1.3}}).kind, Testimony::Kind::undecided);
}

}  // namespace
}  // namespace strop
