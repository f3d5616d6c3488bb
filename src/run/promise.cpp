#include "run/promise.h"

#include <algorithm>

#include "base/hash.h"
#include "language/bundle.h"
#include "run/verification.h"

namespace strop {

namespace {

// The report's shapes as they are measured now.
RunRecord measured_now(const Problem& problem, const Comparison& comparison) {
    RunRecord now;
    for (const ShapePoint& point : problem.points) {
        ShapeReport& shape = now.shapes.emplace_back();
        shape.label = point.label;
        shape.dims = point.dims;
    }
    note_verification(comparison, [](const Dimensions&) { return std::string("dispatch"); }, now);
    return now;
}

bool is_slower(const report::Change& change) { return change.decision == Decision::slower; }

// Where a ratio was promised and no baseline of then ran now.
bool is_lost(const report::Change& change, const RunRecord& report) {
    return change.baseline.empty() &&
           std::any_of(report.shapes.begin(), report.shapes.end(), [&](const ShapeReport& shape) {
               return shape.label == change.label && !shape.speedups.empty();
           });
}

// One disturbed moment is no regression: those shapes once more, by themselves.
void look_again(judge::WorkerClient& worker, Problem problem, const RunRecord& report, const Kernel& kernel,
                const PromiseOptions& options, PromiseCheck& check) {
    std::vector<std::string> slower;
    for (const report::Change& change : check.changes)
        if (is_slower(change)) slower.push_back(change.label);
    keep_points(problem, slower);
    const Judgement second = judge_kernel(worker, problem, kernel, kernel.initial,
                                          {mix64(options.seed), true, 2 * options.seconds_per_shape, false});
    if (!second.evaluation.ok()) {
        check.judgement = second;
        return;
    }
    const RunRecord now = measured_now(problem, second.comparison);
    for (const report::Change& change : report::changes(report, now, options.tolerance))
        for (report::Change& first : check.changes)
            if (first.label == change.label) first = change;
    for (const ShapeReport& shape : now.shapes)
        for (ShapeReport& first : check.now)
            if (first.label == shape.label) first = shape;
}

}  // namespace

Kernel promised_kernel(const RunRecord& report, const std::string& source) {
    std::vector<DispatchWinner> winners;
    for (const Regime& regime : report.regimes)
        for (const Kernel& kernel : report.kernels)
            if (kernel.id == regime.kernel) {
                winners.push_back({kernel, regime.configuration});
                break;
            }
    return bundled_kernel(source, winners);
}

PromiseCheck check_promise(judge::WorkerClient& worker, const Problem& problem, const RunRecord& report,
                           const Kernel& kernel, const PromiseOptions& options) {
    PromiseCheck check;
    check.same_machine = worker.machine_fingerprint() == report.machine.fingerprint;
    check.judgement =
        judge_kernel(worker, problem, kernel, kernel.initial, {options.seed, true, options.seconds_per_shape, false});
    if (!check.judgement.evaluation.ok()) return check;
    const RunRecord now = measured_now(problem, check.judgement.comparison);
    check.changes = report::changes(report, now, options.tolerance);
    check.now = now.shapes;
    const bool again = check.same_machine && std::any_of(check.changes.begin(), check.changes.end(), is_slower);
    if (again) look_again(worker, problem, report, kernel, options, check);
    check.kept = check.judgement.evaluation.ok();
    for (const report::Change& change : check.changes)
        if (check.same_machine && (is_slower(change) || is_lost(change, report))) check.kept = false;
    return check;
}

}  // namespace strop
