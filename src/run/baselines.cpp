#include "run/baselines.h"

#include <algorithm>

namespace strop {

namespace {

constexpr double share = 0.005, least_seconds = 0.1, most_seconds = 0.5;  // of the budget, at a shape

ShapeReport shape_of(const PointComparison& point) {
    ShapeReport shape;
    shape.label = point.point.label;
    shape.dims = point.point.dims;
    for (const ContenderResult& result : point.results)
        if (result.verdict == Verdict::ok) shape.baselines[result.name] = result.time.median_ns;
    return shape;
}

}  // namespace

Baselines measure_baselines(const Problem& problem, const std::vector<Contender>& own, Seconds budget,
                            judge::WorkerPool& worker, Recorder& recorder) {
    Baselines found;
    const double before = worker.reference_seconds();
    found.names = worker.baselines(found.missing);
    found.reference_seconds = worker.reference_seconds() - before;
    for (const std::string& name : found.names) found.contenders.push_back({name, name, {}, {}});
    for (const Contender& kernel : own) {
        found.names.push_back(kernel.name);
        found.contenders.push_back(kernel);
    }
    const double seconds = std::clamp(share * budget.count(), least_seconds, most_seconds);
    const Comparison comparison = recorder.compare({found.contenders, problem.points, Effort::screen, seconds});
    for (const PointComparison& point : comparison.points) {
        found.shapes.push_back(shape_of(point));
        for (const ContenderResult& result : point.results) {
            if (result.verdict != Verdict::ok) continue;
            const double nanoseconds = deciding_ns(result.time, result.cold);
            double& best = found.best_ns[point.point.label];
            if (best == 0 || nanoseconds < best) best = nanoseconds;
        }
    }
    return found;
}

}  // namespace strop
