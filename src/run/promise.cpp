#include "run/promise.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/strings.h"
#include "language/bundle.h"
#include "run/verification.h"

namespace strop {

namespace {

constexpr const char* as_it_was = "itself then";

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

// Of the problem, the shapes that a change is slower at.
Problem slower_part(Problem problem, const std::vector<report::Change>& changes, bool in_turns) {
    std::vector<std::string> slower;
    for (const report::Change& change : changes)
        if (is_slower(change) && change.in_turns == in_turns) slower.push_back(change.label);
    if (slower.empty()) problem.points.clear();
    keep_points(problem, slower);
    return problem;
}

void replace(std::vector<report::Change>& changes, const std::vector<report::Change>& again) {
    for (const report::Change& change : again)
        for (report::Change& first : changes)
            if (first.label == change.label && first.in_turns == change.in_turns) first = change;
}

const ShapeReport* shape_at(const std::vector<ShapeReport>& shapes, const std::string& label) {
    const auto found =
        std::find_if(shapes.begin(), shapes.end(), [&](const ShapeReport& s) { return s.label == label; });
    return found == shapes.end() ? nullptr : &*found;
}

// The ratios over a baseline of then and of now. A lower one counts where the kernel itself takes longer: a baseline's
// process is lucky or not for as long as it lives (pages, cores), by more than a tenth for small arrays, and it may be
// of a newer framework.
void note_changes(const RunRecord& report, const RunRecord& now, double tolerance, PromiseCheck& check) {
    std::vector<report::Change> changes = report::changes(report, now, tolerance);
    for (report::Change& change : changes) {
        if (!is_slower(change)) continue;
        const ShapeReport *before = shape_at(report.shapes, change.label), *after = shape_at(now.shapes, change.label);
        if (after->low_ns > (1 + tolerance) * before->nanoseconds) continue;
        change.decision = Decision::undecided;
        check.notes.push_back(fmt::format("{}: {} gained on it, which takes {} now and took {} then", change.label,
                                          change.baseline, human_nanoseconds(after->nanoseconds),
                                          human_nanoseconds(before->nanoseconds)));
    }
    if (check.changes.empty()) check.changes = changes;
    else replace(check.changes, changes);
}

// One disturbed moment is no regression, and no baseline with luck a promise: those shapes once more, by themselves and
// beside baselines that were started again.
void look_again(judge::WorkerClient& worker, const Problem& problem, const RunRecord& report, const Kernel& kernel,
                const PromiseOptions& options, PromiseCheck& check) {
    worker.open(problem, labels_of(problem), mix64(options.seed));
    const Judgement second = judge_kernel(worker, problem, kernel, kernel.initial,
                                          {mix64(options.seed), true, 2 * options.seconds_per_shape, false});
    if (!second.evaluation.ok()) {
        check.judgement = second;
        return;
    }
    const RunRecord now = measured_now(problem, second.comparison);
    note_changes(report, now, options.tolerance, check);
    for (const ShapeReport& shape : now.shapes)
        for (ShapeReport& first : check.now)
            if (first.label == shape.label) first = shape;
}

// Whatever lines of comments say, and how lines are indented.
bool is_other_code(const Kernel& one, const Kernel& other) {
    const auto lines = [](const Kernel& kernel) {
        std::vector<std::string> kept;
        for (const std::string& line : split(kernel.source, '\n'))
            if (const std::string_view text = trim(line); !text.empty() && !text.starts_with("//"))
                kept.emplace_back(text);
        return kept;
    };
    return lines(one) != lines(other);
}

// A function that failed beside the other has no time there; where it is that of now, this is no success.
void note_failures(const Comparison& comparison, PromiseCheck& check) {
    for (const PointComparison& point : comparison.points)
        for (const ContenderResult& result : point.results)
            if (result.verdict != Verdict::ok) {
                check.notes.push_back(fmt::format("{}: {} failed in turns with the other: {}{}{}", point.point.label,
                                                  result.name, name_of(result.verdict),
                                                  result.evidence.empty() ? "" : ", ", result.evidence));
                check.kept = check.kept && result.name == as_it_was;
            }
}

// The function of then and that of now in one comparison, which tells more than two ratios to a baseline.
void take_turns(judge::WorkerClient& worker, const Problem& problem, const Kernel& before, const Kernel& now,
                const PromiseOptions& options, PromiseCheck& check) {
    const std::vector<Contender> both = {{"now", "", now, now.initial}, {as_it_was, "", before, before.initial}};
    const auto measured = [&](const Problem& part, Seconds seconds) {
        const Comparison comparison = compare_kernels(worker, part, both, seconds);
        note_failures(comparison, check);
        return report::changes_in_turns(comparison, options.tolerance);
    };
    const std::vector<report::Change> first = measured(problem, options.seconds_per_shape);
    check.changes.insert(check.changes.end(), first.begin(), first.end());
    if (const Problem part = slower_part(problem, first, true); !part.points.empty())
        replace(check.changes, measured(part, 2 * options.seconds_per_shape));
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

PromiseCheck check_promise(judge::WorkerClient& worker, const Problem& problem, const Promise& promise,
                           const Kernel& kernel, const PromiseOptions& options) {
    const RunRecord& report = promise.report;
    PromiseCheck check;
    check.same_machine = worker.machine_fingerprint() == report.machine.fingerprint;
    check.judgement =
        judge_kernel(worker, problem, kernel, kernel.initial, {options.seed, true, options.seconds_per_shape, false});
    if (!check.judgement.evaluation.ok()) return check;
    const RunRecord now = measured_now(problem, check.judgement.comparison);
    note_changes(report, now, options.tolerance, check);
    check.now = now.shapes;
    const Problem part = slower_part(problem, check.changes, false);
    check.kept = true;
    if (promise.kernel && is_other_code(*promise.kernel, kernel))
        take_turns(worker, problem, *promise.kernel, kernel, options, check);
    if (check.same_machine && !part.points.empty()) look_again(worker, part, report, kernel, options, check);
    check.kept = check.kept && check.judgement.evaluation.ok();
    for (const report::Change& change : check.changes)
        if ((check.same_machine || change.in_turns) && (is_slower(change) || is_lost(change, report)))
            check.kept = false;
    return check;
}

}  // namespace strop
