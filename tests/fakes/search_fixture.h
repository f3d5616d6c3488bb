// Two shapes, three kernels with a synthetic performance model, and an observer that notes what it is told.
#pragma once

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "fakes/fake_evaluator.h"
#include "fakes/fake_proposer.h"
#include "search/search.h"

namespace strop::search {

using fakes::FakeEvaluator;
using fakes::FakeProposer;
using fakes::numbers;
using fakes::proposal;

class Recorder : public Observer {
public:
    double seconds = 1e9;  // left
    double seconds_an_evaluation = 0;
    int stop_after = -1;  // evaluations
    int evaluations = 0;
    std::vector<int> rounds;
    std::vector<std::vector<Strategy>> strategies;
    std::vector<std::string> order;  // of kernels

    double seconds_left() override { return seconds - seconds_an_evaluation * evaluations; }
    bool stop_requested() override { return stop_after >= 0 && evaluations >= stop_after; }
    void on_round(int round, const std::string&) override { rounds.push_back(round); }
    void on_strategies(const std::vector<Strategy>& all) override { strategies.push_back(all); }
    void on_evaluation(const Evaluation&, const Kernel& kernel) override {
        ++evaluations;
        order.push_back(kernel.id);
    }
};

inline const std::vector<ShapePoint> points = {{"small", {{"M", 64}, {"N", 64}}},
                                               {"large", {{"M", 4096}, {"N", 4096}}}};

inline double size_of(const ShapePoint& point) { return static_cast<double>(point.dims.at("M") * point.dims.at("N")); }

// A tunable "U" whose best value is 16, twice as fast as the worst.
inline double unroll(const Configuration& configuration) {
    auto u = configuration.find("U");
    if (u == configuration.end()) return 1;
    return 1 + 0.25 * std::fabs(std::log2(static_cast<double>(std::get<int64_t>(u->second)) / 16));
}

// "serial" wins small shapes, "parallel" large ones, "naive" none.
inline double model(const Kernel& kernel, const Configuration& configuration, const ShapePoint& point) {
    double elements = size_of(point) * unroll(configuration);
    if (kernel.id.starts_with("serial")) return 100 + elements;
    if (kernel.id.starts_with("parallel")) return 20000 + elements / 2;
    return 50000 + 3 * elements;
}

inline const Strategy& find(const Result& result, const std::string& id) {
    auto found =
        std::find_if(result.strategies.begin(), result.strategies.end(), [&](const Strategy& s) { return s.id == id; });
    EXPECT_NE(found, result.strategies.end()) << id;
    return *found;
}

inline std::vector<Tunable> unrolls() { return {numbers("U", {1, 2, 4, 8, 16, 32})}; }

struct Fixture {
    FakeProposer proposer{
        {proposal("serial", unrolls()), proposal("parallel", unrolls()), proposal("naive", unrolls())}};
    FakeEvaluator evaluator{model};
    Recorder recorder;
    RunSettings settings;
    Targets targets;

    Result run() { return search::run(points, {&proposer}, evaluator, settings, targets, recorder); }
};

}  // namespace strop::search
