// What the last comparison and the sanitizers leave in a record.
#include <gtest/gtest.h>

#include "run/final_function.h"
#include "run/verification.h"

namespace strop {
namespace {

ContenderResult result(const std::string& name, double ns, double cold_ns, double ratio) {
    ContenderResult result;
    result.name = name;
    result.time = {{ns, ns, ns}, ns, ns, ns, false, 0};
    if (cold_ns > 0) result.cold = {{cold_ns}, cold_ns, cold_ns, cold_ns, false, 0};
    result.speedup = {ratio, 0.9 * ratio, 1.1 * ratio};
    return result;
}

RunRecord record_of(size_t shapes) {
    RunRecord record;
    record.shapes.resize(shapes);
    for (size_t i = 0; i < shapes; ++i) {
        record.shapes[i].label = "shape" + std::to_string(i);
        record.shapes[i].dims = {{"N", static_cast<int64_t>(i)}};
        record.shapes[i].roofline_ns = 50;
    }
    return record;
}

std::string who(const Dimensions& dims) { return "kernel" + std::to_string(dims.at("N")); }

TEST(Verification, shapes_get_times_and_their_best_baseline) {
    RunRecord record = record_of(2);
    Comparison comparison;
    comparison.points = {{{}, {result("strop", 100, 300, 1), result("numpy", 400, 500, 4), result("jax", 200, 0, 2)}},
                         {{}, {result("strop", 100, 0, 1), result("numpy", 800, 0, 8)}}};
    EXPECT_EQ(note_verification(comparison, who, record), "");
    EXPECT_EQ(record.shapes[0].best_baseline, "jax");
    EXPECT_EQ(record.shapes[0].kernel, "kernel0");
    EXPECT_EQ(record.shapes[0].cold_ns, 300);
    EXPECT_EQ(record.shapes[0].cold_baselines, (std::map<std::string, double>{{"numpy", 500}}));
    EXPECT_EQ(record.shapes[0].roofline_share, 0.5);
    EXPECT_EQ(record.shapes[1].cold_ns, 0);
    EXPECT_NEAR(record.headline.ratio, 4, 1e-9);
}

TEST(Verification, the_largest_error_is_told_with_its_shape) {
    RunRecord record = record_of(2);
    EXPECT_EQ(what_was_verified(record, {}, {"numpy"}).find("error"), std::string::npos);
    Comparison comparison;
    comparison.points = {{{}, {result("strop", 100, 0, 1)}}, {{}, {result("strop", 100, 0, 1)}}};
    comparison.points[0].results[0].error_share = 0.031;
    comparison.points[1].results[0].error_share = 0.31;
    note_verification(comparison, who, record);
    EXPECT_NE(what_was_verified(record, {}, {"numpy"}).find("its error at most 31% of what is allowed (at shape1)"),
              std::string::npos)
        << what_was_verified(record, {}, {"numpy"});
}

// At every shape: one that is near somewhere is compared at length everywhere.
TEST(Verification, who_is_far_behind_gets_a_short_look) {
    RunRecord record = record_of(2);
    record.shapes[0].baselines = {{"onednn", 100}, {"numpy", 1000}, {"jax", 5000}};
    record.shapes[1].baselines = {{"onednn", 100}, {"numpy", 2000}, {"jax", 300}};
    EXPECT_EQ(far_behind(record.shapes), (std::set<std::string>{"numpy"}));
    Comparison near, far;
    near.points = {{{}, {result("strop", 100, 0, 1), result("jax", 200, 0, 2)}}};
    far.points = {{{}, {result("strop", 101, 0, 1), result("numpy", 4000, 0, 40)}}};
    const Comparison both = joined(near, far);
    ASSERT_EQ(both.points[0].results.size(), 3u);
    EXPECT_EQ(both.points[0].results[0].time.median_ns, 100);
    EXPECT_EQ(both.points[0].results[2].name, "numpy");
    EXPECT_EQ(joined(near, {}).points[0].results.size(), 2u);
    far.points[0].results[0].verdict = Verdict::wrong_output;  // a failure there is one
    EXPECT_EQ(joined(near, far).points[0].results[0].verdict, Verdict::wrong_output);
}

TEST(Verification, a_failure_is_named_and_leaves_no_time) {
    RunRecord record = record_of(1);
    Comparison comparison;
    comparison.points = {{{}, {result("strop", 100, 300, 1), result("numpy", 400, 500, 4)}}};
    comparison.points[0].results[0].verdict = Verdict::wrong_output;
    comparison.points[0].results[0].evidence = "y[3]";
    EXPECT_EQ(note_verification(comparison, who, record), "wrong_output at N=0: y[3]");
    EXPECT_EQ(record.shapes[0].nanoseconds, 0);
    EXPECT_TRUE(record.shapes[0].best_baseline.empty());
}

TEST(Verification, improved_needs_both_measurements) {
    RunRecord record = record_of(1);
    record.headline = {2, 1.9, 2.1};
    EXPECT_EQ(outcome_of(record), Outcome::no_improvement);
    record.verified = true;
    EXPECT_EQ(outcome_of(record), Outcome::improved);
    record.in_process = {"pytorch", "", {1.05, 0.99, 1.1}, {{}}};
    EXPECT_EQ(outcome_of(record), Outcome::no_improvement);
    record.in_process.headline.low = 1.01;
    EXPECT_EQ(outcome_of(record), Outcome::improved);
    record.in_process = {"pytorch", "exit 1", {}, {}};  // not measured
    EXPECT_EQ(outcome_of(record), Outcome::improved);
    record.headline.low = 0.99;
    EXPECT_EQ(outcome_of(record), Outcome::no_improvement);
}

TEST(Verification, a_baseline_that_failed_is_named_and_leaves_no_speedup_at_its_shape) {
    RunRecord record = record_of(2);
    Comparison comparison;
    comparison.points = {
        {{}, {result("strop", 100, 0, 1), result("numpy", 400, 0, 4), result("onednn", 10, 0, 0.1)}},
        {{"", {{"N", 1}}}, {result("strop", 100, 0, 1), result("numpy", 800, 0, 8), result("onednn", 0, 0, 0)}}};
    comparison.points[1].results[2].verdict = Verdict::crashed;
    comparison.points[1].results[2].evidence = "was there and has ended";
    EXPECT_EQ(note_verification(comparison, who, record), "");
    EXPECT_NEAR(record.headline.ratio, 0.1, 1e-9);  // of the other shape
    EXPECT_TRUE(record.shapes[1].best_baseline.empty());
    ASSERT_EQ(record.missing_baselines.size(), 1u);
    EXPECT_EQ(record.missing_baselines[0].how,
              "failed: crashed at N=1, which has no speedup (was there and has ended)");
    comparison.points[1].results[2].verdict = Verdict::unsupported;  // one that is not there is no loss
    EXPECT_TRUE(lost_baselines(comparison).empty());
}

TEST(Verification, a_sanitizers_finding_is_a_failure) {
    EXPECT_EQ(finding_of({{"A", 3, Verdict::ok, "", "no time"}}), "");
    EXPECT_EQ(finding_of({{"A", 3, Verdict::ok, "", ""}, {"T", 0, Verdict::nondeterministic, "a race", ""}}),
              "nondeterministic: a race");
}

TEST(Verification, a_finding_has_the_place_where_its_sanitizer_ended) {
    const std::vector<ShapePoint> points = {{"a", {{"N", 1}}}, {"b", {{"N", 2}}}, {"c", {{"N", 3}}}};
    EXPECT_FALSE(place_of_finding({{"A", 3, Verdict::ok, "", ""}}, points));
    const auto place =
        place_of_finding({{"A", 3, Verdict::ok, "", ""}, {"T", 1, Verdict::nondeterministic, "", ""}}, points);
    ASSERT_TRUE(place);
    EXPECT_EQ(place->label, "b");
}

TEST(Verification, who_is_out_is_out_in_every_configuration_and_somebody_may_be_called_everywhere) {
    search::Candidate first, again, other;
    first.kernel.id = again.kernel.id = "first";
    other.kernel.id = "other";
    const std::vector<search::Candidate> left = without({first, again, other}, "first");
    ASSERT_EQ(left.size(), 1u);
    EXPECT_EQ(left[0].kernel.id, "other");
    other.kernel.condition = Expression::parse("N > 3");
    EXPECT_TRUE(without({first, again, other}, "first").empty());
}

}  // namespace
}  // namespace strop
