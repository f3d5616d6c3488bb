// What the machine does to times while a search goes on.
#include <gtest/gtest.h>

#include "fakes/fake_evaluator.h"
#include "search/drift.h"
#include "search/track.h"

namespace strop::search {
namespace {

class DriftTest : public testing::Test {
protected:
    // A kernel takes what its name says, in µs; the machine makes of it what it likes where tensors lie in memory.
    fakes::FakeEvaluator evaluator_{[this](const Kernel& kernel, const Configuration&, const ShapePoint& point) {
        return 1000 * std::stod(kernel.id) * (point.label == "large" ? machine_ : 1);
    }};
    Drift drift_{evaluator_, {"large"}};
    double machine_ = 1;

    std::map<std::string, double> judged(const std::vector<std::string>& names, const std::string& label = "large") {
        std::vector<Kernel> kernels;
        std::vector<EvaluationRequest> requests;
        for (const std::string& name : names) {
            kernels.emplace_back();
            kernels.back().id = name;
            requests.push_back(
                {kernels.back(), {}, {{"small", {{"N", 1}}}, {"large", {{"N", 9}}}}, Effort::screen, {}});
        }
        std::vector<Evaluation> batch = evaluator_.evaluate(requests);
        for (Evaluation& evaluation : batch) evaluation.time_seconds = 1;
        std::vector<const Kernel*> of_batch;
        for (const Kernel& kernel : kernels) of_batch.push_back(&kernel);
        drift_.level(batch, of_batch);
        std::map<std::string, double> times;
        for (size_t i = 0; i < names.size(); ++i) times[names[i]] = usable_nanoseconds(batch[i], label) / 1000;
        return times;
    }
};

TEST_F(DriftTest, who_is_measured_while_memory_is_fast_does_not_lead) {
    judged({"10", "12"});
    machine_ = 0.6;
    const std::map<std::string, double> times = judged({"11", "15"});
    EXPECT_NEAR(times.at("11"), 11, 1e-6);
    EXPECT_NEAR(times.at("15"), 15, 1e-6);
    EXPECT_EQ(evaluator_.comparisons.size(), 1u);
    machine_ = 1;
    EXPECT_NEAR(judged({"9"}).at("9"), 9, 1e-6);
}

TEST_F(DriftTest, who_is_faster_leads) {
    judged({"10", "12"});
    EXPECT_NEAR(judged({"5", "11"}).at("5"), 5, 1e-6);
    EXPECT_EQ(evaluator_.comparisons.size(), 1u);  // it asked, and it was the kernel
    machine_ = 0.6;
    EXPECT_NEAR(judged({"4", "7"}).at("4"), 4, 1e-6);
}

TEST_F(DriftTest, who_is_measured_while_memory_is_slow_is_not_lost) {
    machine_ = 0.6;
    judged({"10"});
    machine_ = 1;
    double found = 0;
    for (int batch = 0; batch < 4; ++batch) found = judged({"9.9", "12"}).at("9.9");
    EXPECT_NEAR(found, 0.6 * 9.9, 1e-6);  // on the scale of the first batch
    // From then on it is asked at once.
    EXPECT_NEAR(judged({"9.5"}).at("9.5"), 0.6 * 9.5, 1e-6);
}

TEST_F(DriftTest, points_in_caches_stay_as_they_are) {
    judged({"10"});
    EXPECT_EQ(judged({"5"}, "small").at("5"), 5);
    machine_ = 0.6;
    EXPECT_EQ(judged({"9"}, "small").at("9"), 9);
}

TEST_F(DriftTest, asking_costs_little_beside_judging) {
    evaluator_.seconds_per_comparison = 1;
    double state[] = {0.6, 1};
    for (int batch = 0; batch < 70; ++batch) {
        machine_ = state[batch % 2];
        judged({std::to_string(10 + batch % 7)});
    }
    EXPECT_LE(evaluator_.comparisons.size(), 11u);
    EXPECT_GE(evaluator_.comparisons.size(), 5u);
}

}  // namespace
}  // namespace strop::search
