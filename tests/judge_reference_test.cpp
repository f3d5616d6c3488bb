// What is expected of kernels: the reference's values, the distributions of its inputs, buffers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "device/machine.h"
#include "judge/referee.h"
#include "judge_scale_fixture.h"
#include "problem/loader.h"

namespace strop::judge {
namespace {

Problem scale_problem(const TemporaryFolder& folder, const std::string& python) {
    write_file(folder.path() / "scale/problem.yaml", problem_yaml);
    write_file(folder.path() / "scale/reference.py", python);
    return load_problem((folder.path() / "scale").string());
}

TEST(Reference, a_reference_that_fails_is_one_phrase) {
    TemporaryFolder folder("strop-test");
    auto judge_with = [&](const std::string& python) -> std::string {
        Problem problem = scale_problem(folder, python);
        RefereeOptions options;
        options.reference_limit = Seconds(3);
        EvaluationRequest request;
        request.kernel.source = kernel_source(right_body);
        request.points = problem.points;
        try {
            Referee referee(problem, detect_machine(), options);
            referee.evaluate({request});
        } catch (const UsageError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_NE(judge_with("def scale(x, factor):\n    raise ValueError('no luck')\n").find("ValueError: no luck"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    return x, x\n").find("returns shape [8, 33] for 'total'"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    return x.astype('int32'), x.sum(-1)\n").find("returns dtype"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    return x * float('nan'), x.sum(-1)\n").find("nan or infinity"),
              std::string::npos);
    EXPECT_NE(judge_with("def scale(x, factor):\n    while True: pass\n").find("did not return within 3 s"),
              std::string::npos);
}

// A reference that refuses NaNs, infinities and what is too large is judged as one that does not.
TEST(Reference, inputs_that_nobody_declared_may_be_refused) {
    TemporaryFolder folder("strop-test");
    Problem problem = scale_problem(folder,
                                    "def scale(x, factor):\n    if not abs(x).max() < 100: raise ValueError('no')\n"
                                    "    return x * factor, x.sum(axis=-1)\n");
    Expectation expectation(problem, 5, Seconds(60));
    std::set<Distribution> met;
    for (const InputSet& set : expectation.at(problem.points[0]).sets()) met.insert(set.distribution);
    EXPECT_EQ(met.count(Distribution::scaled_up) + met.count(Distribution::masked), 0u);
    EXPECT_EQ(met.count(Distribution::sparse), 1u);
}

// Small shapes get every distribution that suits the reference, and larger ones share them out without replacement.
TEST(Reference, every_distribution_is_met_before_one_is_met_twice) {
    TemporaryFolder folder("strop-test");
    Problem problem = scale_problem(folder, reference_py);
    for (int64_t i = 0; i < 6; ++i) problem.points.push_back({std::to_string(i), {{"M", 250 + i}, {"N", 1000}}});
    Expectation expectation(problem, 5, Seconds(60));
    std::multiset<Distribution> at_small, at_large;
    for (const ShapePoint& point : problem.points) {
        Buffers& buffers = expectation.at(point);
        bool small = point.dims.at("N") == 33;
        for (const InputSet& set : buffers.sets()) {
            if (set.distribution == Distribution::declared) continue;
            if (small) at_small.insert(set.distribution);
            if (point.dims.at("N") == 1000) at_large.insert(set.distribution);
        }
    }
    EXPECT_GE(at_small.size(), 8u);
    EXPECT_EQ(at_large.size(), 12u);
    for (Distribution distribution : at_small) {
        EXPECT_EQ(at_small.count(distribution), 1u) << name_of(distribution);
        EXPECT_GE(at_large.count(distribution), 1u) << name_of(distribution);
        EXPECT_LE(at_large.count(distribution), 2u) << name_of(distribution);
    }
}

// A reference that takes its time is asked for two a shape, and a smaller shape tells which it can be asked for.
TEST(Reference, small_shapes_of_a_slow_reference_share_the_distributions) {
    TemporaryFolder folder("strop-test");
    Problem problem =
        scale_problem(folder,
                      "import time\n\n\ndef scale(x, factor):\n    time.sleep(x.size * 3.2e-6)\n"
                      "    if x.size < 100: raise ValueError('too small')\n    return x * factor, x.sum(axis=-1)\n");
    problem.points.clear();
    for (int64_t i = 0; i < 4; ++i) problem.points.push_back({std::to_string(i), {{"M", 35 + i}, {"N", 100}}});
    Expectation expectation(problem, 5, Seconds(60));
    std::set<Distribution> met;
    for (const ShapePoint& point : problem.points) {
        const Buffers& buffers = expectation.at(point);
        EXPECT_EQ(buffers.sets().size(), 4u);
        for (const InputSet& set : buffers.sets()) met.insert(set.distribution);
    }
    EXPECT_EQ(met.size(), 9u);
}

TEST(Reference, every_other_shape_outside_the_sweep_meets_an_unusual_distribution) {
    TemporaryFolder folder("strop-test");
    const Problem problem = scale_problem(folder, reference_py);
    Expectation expectation(problem, 5, Seconds(60));
    std::set<Distribution> met;
    int unusual = 0;
    for (int64_t i = 0; i < 12; ++i) {
        const Buffers& buffers = expectation.at({std::to_string(i), {{"M", 20 + i}, {"N", 100}}});
        unusual += buffers.sets().size() == 3;
        for (const InputSet& set : buffers.sets()) met.insert(set.distribution);
    }
    EXPECT_EQ(unusual, 6);
    EXPECT_EQ(met.size(), 7u);
}

TEST(Buffers, outputs_are_wiped_for_each_process) {
    TemporaryFolder folder("strop-test");
    const Problem problem = scale_problem(folder, reference_py);
    Buffers buffers(problem, problem.points[0], {Distribution::declared}, 16, 1);
    std::memset(buffers.outputs().data(), 7, static_cast<size_t>(buffers.outputs().bytes()));
    buffers.wipe_outputs();
    const char* at = buffers.outputs().data();
    EXPECT_EQ(std::count(at, at + buffers.outputs().bytes(), 0), buffers.outputs().bytes());
}

}  // namespace
}  // namespace strop::judge
