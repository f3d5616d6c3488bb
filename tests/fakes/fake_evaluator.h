// An evaluator over a synthetic performance model: no compiler, no clock, repeatable.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/hash.h"
#include "core/evaluator.h"

namespace strop::fakes {

class FakeEvaluator : public Evaluator {
public:
    using Model = std::function<double(const Kernel&, const Configuration&, const ShapePoint&)>;  // nanoseconds
    using Judgement = std::function<Verdict(const Kernel&, const Configuration&, const ShapePoint&)>;

    explicit FakeEvaluator(Model model) : model_(std::move(model)) {}

    Judgement judgement;                  // absent: everything is ok
    Judgement thorough_judgement;         // in comparisons; absent: as above
    Model cold;                           // of calls with cold tensors; absent or 0: not measured
    double noise = 0;                     // relative, repeatable
    double seconds_per_comparison = 0.1;  // and point
    std::vector<EvaluationRequest> requests;
    std::vector<size_t> batches;
    std::vector<ComparisonRequest> comparisons;
    std::vector<EvaluationRequest> probes;

    std::vector<Evaluation> evaluate(std::vector<EvaluationRequest> batch) override {
        batches.push_back(batch.size());
        std::vector<Evaluation> result;
        for (const EvaluationRequest& request : batch) {
            requests.push_back(request);
            result.push_back(judge(request));
        }
        return result;
    }

    std::vector<ProbeResult> probe(const std::vector<EvaluationRequest>& batch) override {
        std::vector<ProbeResult> results;
        for (const EvaluationRequest& request : batch) {
            probes.push_back(request);
            Evaluation timed = judge(request);
            results.push_back({timed.verdict, timed.evidence, timed.points, 0, 0});
        }
        return results;
    }

    Comparison compare(const ComparisonRequest& request) override {
        comparisons.push_back(request);
        Comparison comparison;
        for (const ShapePoint& point : request.points) {
            PointComparison at{point, {}};
            for (const Contender& contender : request.contenders) {
                ContenderResult result;
                result.name = contender.name;
                const Judgement& judge_by = thorough_judgement ? thorough_judgement : judgement;
                if (judge_by) result.verdict = judge_by(contender.kernel, contender.configuration, point);
                if (result.verdict == Verdict::ok) {
                    result.time = time(contender.kernel, contender.configuration, point);
                    result.cold = cold_time(contender.kernel, contender.configuration, point);
                }
                double first = at.results.empty() ? result.time.median_ns : at.results[0].time.median_ns;
                if (result.verdict == Verdict::ok && first > 0) {
                    result.speedup.ratio = result.speedup.low = result.speedup.high = result.time.median_ns / first;
                    // As of the referee's one launch, which is no interval.
                    if (request.effort == Effort::screen && !at.results.empty())
                        result.speedup = {result.speedup.ratio, 0, std::numeric_limits<double>::infinity()};
                }
                at.results.push_back(result);
            }
            comparison.points.push_back(at);
        }
        comparison.time_seconds = seconds_per_comparison * static_cast<double>(request.points.size());
        return comparison;
    }

private:
    Evaluation judge(const EvaluationRequest& request) {
        Evaluation evaluation;
        evaluation.kernel = request.kernel.id;
        evaluation.configuration = request.configuration;
        for (const ShapePoint& point : request.points) {
            PointResult result;
            result.point = point;
            if (judgement) result.verdict = judgement(request.kernel, request.configuration, point);
            if (result.verdict == Verdict::ok) {
                result.time = time(request.kernel, request.configuration, point);
                result.cold = cold_time(request.kernel, request.configuration, point);
            } else {
                evaluation.verdict = result.verdict;
                evaluation.evidence = result.evidence = "first line\nsecond line";
            }
            evaluation.points.push_back(result);
        }
        return evaluation;
    }

    Measurement time(const Kernel& kernel, const Configuration& configuration, const ShapePoint& point) {
        double nanoseconds = model_(kernel, configuration, point);
        uint64_t mixed = mix64(std::hash<std::string>()(kernel.id + describe(configuration) + describe(point.dims)));
        nanoseconds *= 1 + noise * (static_cast<double>(mixed >> 11) * 0x1.0p-53 - 0.5);
        return {{nanoseconds}, nanoseconds, nanoseconds, nanoseconds, false};
    }

    Measurement cold_time(const Kernel& kernel, const Configuration& configuration, const ShapePoint& point) const {
        const double nanoseconds = cold ? cold(kernel, configuration, point) : 0;
        if (nanoseconds == 0) return {};
        return {{nanoseconds}, nanoseconds, nanoseconds, nanoseconds, false};
    }

    Model model_;
};

}  // namespace strop::fakes
