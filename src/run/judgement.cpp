#include "run/judgement.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/strings.h"
#include "run/verification.h"
#include "search/dispatch.h"

namespace strop {

namespace {

constexpr size_t unlisted_shapes = 8;
constexpr int64_t unlisted_bytes = int64_t{1} << 20;  // of their tensors
const Seconds sanitize_limit{120};                    // after which no further shape is begun
const Seconds emulate_limit{60};                      // the same

// A failure anywhere is the kernel's.
void note(Judgement& judgement, Verdict verdict, const std::string& evidence) {
    if (verdict == Verdict::ok || !judgement.evaluation.ok()) return;
    judgement.evaluation.verdict = verdict;
    judgement.evaluation.evidence = evidence;
}

// Found in turns with the baselines: its shape says so too.
void note(Judgement& judgement, const PointComparison& comparison) {
    const ContenderResult& kernel = comparison.results[0];
    note(judgement, kernel.verdict, kernel.evidence);
    for (PointResult& point : judgement.evaluation.points)
        if (kernel.verdict != Verdict::ok && point.point.label == comparison.point.label)
            point = {point.point, kernel.verdict, kernel.evidence, {}, {}};
}

std::vector<ShapePoint> callable_among(std::vector<ShapePoint> points, const Problem& problem, const Kernel& kernel) {
    std::erase_if(points,
                  [&](const ShapePoint& point) { return !may_be_called(kernel, bindings_of(problem, point.dims)); });
    return points;
}

void judge_unlisted(judge::WorkerClient& worker, const EvaluationRequest& listed,
                    const std::vector<ShapePoint>& unlisted, Judgement& judgement) {
    EvaluationRequest request = listed;
    request.points = unlisted;
    request.effort = Effort::screen;
    Evaluation evaluation = worker.evaluate({request}).front();
    note(judgement, evaluation.verdict, evaluation.evidence);
}

void sanitize(judge::WorkerClient& worker, const EvaluationRequest& listed, const std::vector<ShapePoint>& unlisted,
              Judgement& judgement) {
    EvaluationRequest request = listed;
    request.points.insert(request.points.end(), unlisted.begin(), unlisted.end());
    judgement.sanitizers = worker.sanitize(request, sanitize_limit);
    for (const SanitizerRun& run : judgement.sanitizers) note(judgement, run.verdict, run.evidence);
}

void compare_with_baselines(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                            const Configuration& configuration, const JudgementOptions& options, Judgement& judgement) {
    ComparisonRequest request;
    request.contenders.push_back({kernel.id, "", kernel, configuration});
    std::vector<MissingBaseline> missing;
    if (options.paired)
        for (const std::string& name : worker.baselines(missing)) request.contenders.push_back({name, name, {}, {}});
    request.points = callable_among(problem.points, problem, kernel);
    request.prove = true;
    request.cold = options.paired;
    request.seconds_per_point = options.seconds_per_shape.count();
    judgement.comparison = worker.compare(request);
    for (const PointComparison& point : judgement.comparison.points) note(judgement, point);
    if (judgement.evaluation.ok()) judgement.speedup = speedup_over_best(judgement.comparison);
}

}  // namespace

Judgement emulate_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                         const Configuration& configuration, uint64_t seed) {
    Clock::time_point start = Clock::now();
    Judgement judgement;
    judgement.seed = seed;
    EvaluationRequest request{kernel, configuration, problem.points, Effort::full, {}};
    for (const ShapePoint& point :
         search::held_out_shapes(problem, unlisted_shapes, unlisted_bytes, seed, problem.points))
        request.points.push_back(point);
    request.points = callable_among(std::move(request.points), problem, kernel);
    judgement.evaluation = worker.emulate(request, emulate_limit);
    judgement.seconds = seconds_since(start);
    return judgement;
}

Judgement judge_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                       const Configuration& configuration, const JudgementOptions& options) {
    Clock::time_point start = Clock::now();
    Judgement judgement;
    judgement.seed = options.seed;
    const auto tell = [&](const std::string& what) {
        if (options.phase) options.phase(what);
    };
    EvaluationRequest request{kernel, configuration, problem.points, Effort::full, {}};
    tell(fmt::format("compiled, checked and timed at {}", counted(problem.points.size(), "shape")));
    judgement.evaluation = worker.evaluate({request}).front();
    if (judgement.evaluation.ok()) {
        const std::vector<ShapePoint> unlisted = callable_among(
            search::held_out_shapes(problem, unlisted_shapes, unlisted_bytes, options.seed, problem.points), problem,
            kernel);
        tell(fmt::format("checked at {} that nobody listed", counted(unlisted.size(), "shape")));
        if (!unlisted.empty()) judge_unlisted(worker, request, unlisted, judgement);
        if (judgement.evaluation.ok() && options.sanitize) {
            tell("run under sanitizers");
            sanitize(worker, request, unlisted, judgement);
        }
    }
    if (judgement.evaluation.ok()) tell(options.paired ? "timed in turns with the baselines" : "watched closely");
    if (judgement.evaluation.ok()) compare_with_baselines(worker, problem, kernel, configuration, options, judgement);
    judgement.seconds = seconds_since(start);
    return judgement;
}

Comparison compare_kernels(judge::WorkerClient& worker, const Problem& problem, const std::vector<Contender>& kernels,
                           Seconds seconds_per_shape) {
    ComparisonRequest request;
    request.contenders = kernels;
    request.points = problem.points;
    request.cold = true;
    request.seconds_per_point = seconds_per_shape.count();
    return worker.compare(request);
}

}  // namespace strop
