#include "report/change.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/json.h"
#include "fakes/sample_record.h"
#include "report/report.h"

namespace strop::report {
namespace {

using fakes::sample_record;
using testing::DoubleNear;
using testing::SizeIs;

TEST(Reader, GivesBackWhatTheDocumentHas) {
    const RunRecord record = sample_record({3, 2});
    const RunRecord back = read(json(record));
    EXPECT_EQ(back.run, record.run);
    EXPECT_EQ(back.problem_hash, record.problem_hash);
    EXPECT_EQ(back.machine.fingerprint, record.machine.fingerprint);
    EXPECT_EQ(back.kernels.size(), record.kernels.size());
    ASSERT_EQ(back.regimes.size(), record.regimes.size());
    EXPECT_EQ(back.regimes[0].configuration, record.regimes[0].configuration);
    ASSERT_THAT(back.shapes, SizeIs(3));
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(back.shapes[i].dims, record.shapes[i].dims);
        EXPECT_EQ(back.shapes[i].best_baseline, record.shapes[i].best_baseline);
        ASSERT_EQ(back.shapes[i].speedups.size(), record.shapes[i].speedups.size());
        for (const auto& [name, ratio] : record.shapes[i].speedups)
            EXPECT_DOUBLE_EQ(back.shapes[i].speedups.at(name).low, ratio.low);
    }
}

TEST(Reader, TakesWhatWasNotMeasured) {
    RunRecord record = sample_record({1, 1});
    record.shapes[0].best_baseline.clear();
    record.shapes[0].nanoseconds = std::numeric_limits<double>::quiet_NaN();
    for (auto& [name, ratio] : record.shapes[0].speedups) ratio.high = std::numeric_limits<double>::infinity();
    const RunRecord back = read(json(record));
    EXPECT_EQ(back.shapes[0].nanoseconds, 0);
    EXPECT_TRUE(back.shapes[0].best_baseline.empty());
    for (const auto& [name, ratio] : back.shapes[0].speedups) EXPECT_TRUE(std::isinf(ratio.high));
}

TEST(Reader, RefusesOtherTexts) {
    Json newer = Json::parse(json(sample_record()));
    newer["schema"] = RunRecord::schema_version + 1;
    Json edited = Json::parse(json(sample_record()));
    edited["shapes"][0]["speedups"] = 3;
    for (const std::string& text : {std::string(), std::string("[]"), std::string("{}"), newer.dump(), edited.dump()})
        EXPECT_THROW(read(text), UsageError) << text.substr(0, 60);
}

RunRecord with_ratio(const std::string& baseline, const Ratio& ratio) {
    RunRecord record;
    ShapeReport& shape = record.shapes.emplace_back();
    shape.label = "large";
    shape.dims = {{"N", 8}};
    shape.best_baseline = baseline;
    shape.baselines[baseline] = 100;
    shape.speedups[baseline] = shape.speedup = ratio;
    return record;
}

TEST(Change, CountsBothIntervals) {
    const std::vector<Change> all =
        changes(with_ratio("numpy", {2, 1.96, 2.04}), with_ratio("numpy", {1.6, 1.568, 1.632}), 0.05);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_DOUBLE_EQ(all[0].change.ratio, 0.8);
    EXPECT_THAT(all[0].change.low, DoubleNear(0.8 / 1.0286, 1e-3));
    EXPECT_THAT(all[0].change.high, DoubleNear(0.8 * 1.0286, 1e-3));
    EXPECT_EQ(all[0].decision, Decision::slower);
}

TEST(Change, IsDecidedOutsideOfTheToleranceOnly) {
    auto decision = [](double now, double tolerance) {
        return changes(with_ratio("numpy", {2, 1.99, 2.01}), with_ratio("numpy", {now, 0.995 * now, 1.005 * now}),
                       tolerance)[0]
            .decision;
    };
    EXPECT_EQ(decision(1.92, 0.05), Decision::undecided);
    EXPECT_EQ(decision(1.92, 0.01), Decision::slower);
    EXPECT_EQ(decision(2.2, 0.05), Decision::faster);
    EXPECT_EQ(decision(2.2, 0.2), Decision::undecided);
}

TEST(Change, IsOverABaselineOfBoth) {
    RunRecord before = with_ratio("pytorch", {1.5, 1.4, 1.6});
    before.shapes[0].baselines["numpy"] = 300;
    before.shapes[0].speedups["numpy"] = {4, 3.9, 4.1};
    EXPECT_EQ(changes(before, with_ratio("numpy", {4, 3.9, 4.1}), 0.05)[0].baseline, "numpy");
    EXPECT_EQ(changes(before, before, 0.05)[0].baseline, "pytorch");
    const std::vector<Change> none = changes(before, with_ratio("jax", {9, 8, 10}), 0.05);
    ASSERT_THAT(none, SizeIs(1));
    EXPECT_TRUE(none[0].baseline.empty());
    EXPECT_EQ(none[0].decision, Decision::undecided);
    EXPECT_FALSE(overall(none));
}

TEST(Change, LeavesOutOtherShapes) {
    RunRecord other = with_ratio("numpy", {2, 1.9, 2.1});
    other.shapes[0].dims["N"] = 9;
    EXPECT_THAT(changes(with_ratio("numpy", {2, 1.9, 2.1}), other, 0.05), SizeIs(0));
}

TEST(Change, OverAllShapesIsTheGeometricMean) {
    RunRecord before = with_ratio("numpy", {2, 1.9, 2.1}), after = with_ratio("numpy", {4, 3.9, 4.1});
    before.shapes.push_back(before.shapes[0]);
    before.shapes[1].label = "small";
    after.shapes.push_back(before.shapes[1]);
    EXPECT_DOUBLE_EQ(overall(changes(before, after, 0.05))->ratio, std::sqrt(2.0));
}

}  // namespace
}  // namespace strop::report
