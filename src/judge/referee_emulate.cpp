// Kernels for a GPU without one: verdicts of the CUDA emulator or of Triton's interpreter, no times.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.h"
#include "judge/python_kernel.h"
#include "judge/referee.h"

namespace strop::judge {

namespace {

const Seconds least_limit{10};    // of a call, however little time is left
const size_t always_in_turn = 4;  // of the smallest shapes
const Seconds telling{0.5};       // a shorter call is mostly the emulator's own: it says nothing of a larger one

}  // namespace

Built Referee::build_emulated(const Kernel& kernel, const Configuration& configuration) {
    if (kernel.language == Language::python) {
        Built built = python_kernel(kernel, configuration, folder_.path());
        built.environment["TRITON_INTERPRET"] = "1";
        return built;
    }
    const Build build{kernel.source, configuration, kernel.space, {}, false, true};
    return toolchain_.build(problem_, {build}, folder_.path(), machine_.cores).front();
}

// Inputs as they are timed and one set that is only checked, each with all of its outputs compared. `call_seconds`: the
// last call and its check, without what a process does first.
PointResult Referee::emulate_point(const Built& built, const ShapePoint& point, Seconds limit, double& call_seconds) {
    const std::vector<Buffers*> buffers = buffers_for({point});
    const std::unique_ptr<Runner> runner = Runner::kernel(built, problem_, buffers, 1);
    Runner::Outcome outcome = runner->prepare(0, prepare_limit);
    for (uint32_t set : {0u, static_cast<uint32_t>(buffers.front()->timed())}) {
        const Clock::time_point call = Clock::now();
        if (outcome.ok()) outcome = check(*runner, 0, set, true, limit);
        call_seconds = seconds_since(call);
    }
    return {point, outcome.verdict, outcome.evidence, {}};
}

// What a kernel keeps from its first call (memory of that size) may be too small for the next shape.
PointResult Referee::emulate_in_turn(const Built& built, const std::vector<ShapePoint>& points, Seconds limit) {
    const std::vector<Buffers*> buffers = buffers_for(points);
    const std::unique_ptr<Runner> runner = Runner::kernel(built, problem_, buffers, 1);
    for (uint32_t point = 0; point < points.size(); ++point) {
        Runner::Outcome outcome = runner->prepare(point, prepare_limit);
        if (outcome.ok()) outcome = check(*runner, point, 0, true, limit);
        if (!outcome.ok()) return {points[point], outcome.verdict, "after another shape: " + outcome.evidence, {}};
    }
    return {points.back(), Verdict::ok, "", {}};
}

Evaluation Referee::emulate(const EvaluationRequest& request, Seconds limit) {
    Evaluation evaluation;
    evaluation.key = key(request);
    evaluation.kernel = request.kernel.id;
    evaluation.configuration = request.configuration;
    const Built built = build_emulated(request.kernel, request.configuration);
    evaluation.compile_seconds = built.seconds;
    if (!built.ok) {
        evaluation.verdict = Verdict::compile_failed;
        evaluation.evidence = built.message;
        return evaluation;
    }
    std::vector<ShapePoint> points = request.points;
    std::stable_sort(points.begin(), points.end(), [&](const ShapePoint& a, const ShapePoint& b) {
        return tensor_bytes(problem_, a.dims) < tensor_bytes(problem_, b.dims);
    });
    std::vector<ShapePoint> in_turn;
    const Clock::time_point start = Clock::now();
    double seconds_per_byte = std::numeric_limits<double>::infinity();  // the least so far, start-up apart
    for (size_t i = 0; i < points.size(); ++i) {
        check_interrupt();
        const Seconds left = limit - Seconds(seconds_since(start));
        const double bytes = static_cast<double>(tensor_bytes(problem_, points[i].dims));
        if (i > 0 &&
            (left.count() <= 0 || (std::isfinite(seconds_per_byte) && seconds_per_byte * bytes > left.count())))
            break;
        double call_seconds = 0;
        PointResult result =
            emulate_point(built, points[i], i == 0 ? limit : std::max(least_limit, left), call_seconds);
        if (call_seconds > telling.count())
            seconds_per_byte = std::min(seconds_per_byte, call_seconds / std::max(1.0, bytes));
        if (i > 0 && result.verdict == Verdict::timed_out) break;  // not the kernel's fault: small ones came to an end
        if (i < always_in_turn || call_seconds <= telling.count()) in_turn.push_back(points[i]);
        evaluation.points.push_back(result);
        if (result.verdict == Verdict::ok) continue;
        evaluation.verdict = result.verdict;
        evaluation.evidence = result.evidence;
        break;
    }
    if (evaluation.verdict == Verdict::ok && in_turn.size() > 1) {
        PointResult both = emulate_in_turn(built, in_turn, std::max(least_limit, limit));
        if (both.verdict != Verdict::ok && both.verdict != Verdict::timed_out) {
            evaluation.verdict = both.verdict;
            evaluation.evidence = both.evidence;
            for (PointResult& result : evaluation.points)
                if (result.point.dims == both.point.dims) result = both;
        }
    }
    evaluation.check_seconds = seconds_since(start);
    return evaluation;
}

}  // namespace strop::judge
