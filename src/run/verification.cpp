#include "run/verification.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "report/change.h"
#include "report/facts.h"

namespace strop {

namespace {

constexpr double far_factor = 10;
constexpr double least_seconds = 0.2;   // at a shape
constexpr double measured_share = 0.7;  // of the time; processes have to start, and baselines to be checked

void note_baselines(const PointComparison& point, ShapeReport& shape) {
    shape.baselines.clear();
    for (size_t i = 1; i < point.results.size(); ++i) {
        const ContenderResult& result = point.results[i];
        if (result.verdict != Verdict::ok) continue;
        shape.baselines[result.name] = result.time.median_ns;
        shape.speedups[result.name] = result.speedup;
        if (result.overhead_ns > 0) shape.baseline_overhead[result.name] = result.overhead_ns;
        if (!result.cold.samples_ns.empty()) shape.cold_baselines[result.name] = result.cold.median_ns;
    }
}

void note_times(const ContenderResult& ours, ShapeReport& shape) {
    shape.nanoseconds = ours.time.median_ns;
    shape.low_ns = ours.time.low_ns;
    shape.high_ns = ours.time.high_ns;
    shape.cold_ns = ours.cold.samples_ns.empty() ? 0 : ours.cold.median_ns;
    shape.error_share = ours.error_share;
    shape.disturbed = disturbed_share(ours.time);
    shape.roofline_share = shape.roofline_ns > 0 ? shape.roofline_ns / ours.time.median_ns : 0;
}

// One that is slow or not there is no loss; one that failed may have been the best.
bool is_lost(const ContenderResult& baseline) {
    return baseline.verdict != Verdict::ok && baseline.verdict != Verdict::unsupported &&
           baseline.verdict != Verdict::timed_out;
}

}  // namespace

std::set<std::string> far_behind(const std::vector<ShapeReport>& shapes) {
    std::set<std::string> far, near;
    for (const ShapeReport& shape : shapes) {
        double best = std::numeric_limits<double>::infinity();
        for (const auto& [name, nanoseconds] : shape.baselines) best = std::min(best, nanoseconds);
        for (const auto& [name, nanoseconds] : shape.baselines)
            (nanoseconds >= far_factor * best ? far : near).insert(name);
    }
    std::erase_if(far, [&](const std::string& name) { return near.count(name) > 0; });
    return far;
}

Comparison joined(Comparison near, const Comparison& far) {
    for (size_t p = 0; p < std::min(near.points.size(), far.points.size()); ++p) {
        const std::vector<ContenderResult>& others = far.points[p].results;
        ContenderResult& ours = near.points[p].results.front();
        if (ours.verdict == Verdict::ok && others.front().verdict != Verdict::ok) ours = others.front();
        near.points[p].results.insert(near.points[p].results.end(), others.begin() + 1, others.end());
    }
    return near;
}

Comparison compare_with_baselines(const Kernel& kernel, const std::vector<Contender>& baselines,
                                  const std::vector<ShapeReport>& shapes, const std::vector<ShapePoint>& points,
                                  const VerificationTime& time, Evaluator& evaluator) {
    const std::set<std::string> names_far = far_behind(shapes);
    ComparisonRequest near, far;
    for (ComparisonRequest* request : {&near, &far}) {
        request->contenders.push_back({"strop", "", kernel, kernel.initial});
        for (const Contender& baseline : baselines)
            if ((names_far.count(baseline.name) > 0) == (request == &far)) request->contenders.push_back(baseline);
        request->points = points;
        request->effort = Effort::full;
        request->cold = true;
        request->seconds_per_point = least_seconds;
    }
    Comparison slow;
    if (far.contenders.size() > 1) slow = evaluator.compare(far);
    near.prove = true;
    near.seconds_per_point =
        std::max(measured_share * time.seconds / static_cast<double>(points.size()), least_seconds);
    near.patience_seconds = time.patience_seconds;
    return joined(evaluator.compare(near), slow);
}

std::vector<MissingBaseline> lost_baselines(const Comparison& comparison) {
    std::vector<MissingBaseline> lost;
    for (const PointComparison& point : comparison.points)
        for (size_t i = 1; i < point.results.size(); ++i) {
            const ContenderResult& baseline = point.results[i];
            if (is_lost(baseline))
                lost.push_back({baseline.name,
                                fmt::format("failed: {} at {}, which has no speedup ({})", name_of(baseline.verdict),
                                            describe(point.point.dims), baseline.evidence)});
        }
    return lost;
}

const ContenderResult* best_baseline(const PointComparison& point) {
    const ContenderResult* best = nullptr;
    for (size_t i = 1; i < point.results.size(); ++i) {
        const ContenderResult& result = point.results[i];
        if (is_lost(result)) return nullptr;
        if (result.verdict == Verdict::ok && (!best || result.time.median_ns < best->time.median_ns)) best = &result;
    }
    return best;
}

std::optional<Ratio> speedup_over_best(const Comparison& comparison) {
    std::vector<Ratio> ratios;
    for (const PointComparison& point : comparison.points) {
        const ContenderResult* best = best_baseline(point);
        if (point.results.front().verdict == Verdict::ok && best) ratios.push_back(best->speedup);
    }
    return report::overall(ratios);
}

std::string note_verification(const Comparison& comparison,
                              const std::function<std::string(const Dimensions&)>& kernel_at, RunRecord& record) {
    std::string failure;
    std::map<std::string, int> best_count;
    for (size_t p = 0; p < comparison.points.size(); ++p) {
        const PointComparison& point = comparison.points[p];
        ShapeReport& shape = record.shapes[p];
        const ContenderResult& ours = point.results.front();
        if (ours.verdict != Verdict::ok) {
            failure = fmt::format("{} at {}: {}", name_of(ours.verdict), describe(shape.dims), ours.evidence);
            continue;
        }
        note_times(ours, shape);
        shape.kernel = kernel_at(shape.dims);
        note_baselines(point, shape);
        const ContenderResult* best = best_baseline(point);
        if (!best) continue;
        shape.best_baseline = best->name;
        shape.speedup = best->speedup;
        ++best_count[best->name];
    }
    for (MissingBaseline& lost : lost_baselines(comparison)) record.missing_baselines.push_back(std::move(lost));
    const std::optional<Ratio> whole = speedup_over_best(comparison);
    if (!whole) return failure;
    record.headline = *whole;
    record.headline_baseline = std::max_element(best_count.begin(), best_count.end(), [](auto& a, auto& b) {
                                   return a.second < b.second;
                               })->first;
    return failure;
}

std::string note_held_out(const Comparison& comparison, const std::function<int(const Dimensions&)>& choice_at,
                          DispatchCheck& check) {
    std::string failure;
    for (const PointComparison& point : comparison.points) {
        ++check.shapes;
        const ContenderResult& whole = point.results.front();
        if (whole.verdict == Verdict::ok) ++check.correct;
        else failure = fmt::format("{} at {}: {}", name_of(whole.verdict), describe(point.point.dims), whole.evidence);
        double best = 0, chosen = 0;
        const size_t choice = static_cast<size_t>(choice_at(point.point.dims));
        for (size_t i = 1; i < point.results.size(); ++i) {
            if (point.results[i].verdict != Verdict::ok) continue;
            const double ns = deciding_ns(point.results[i].time, point.results[i].cold);
            if (best == 0 || ns < best) best = ns;
            if (i - 1 == choice) chosen = ns;
        }
        if (point.results.size() == 1 && whole.verdict == Verdict::ok) best = chosen = 1;  // nothing to choose
        if (best <= 0 || chosen <= 0) continue;
        ++check.timed;
        if (chosen <= 1.05 * best) ++check.within_5_percent;
        check.worst_regret = std::max(check.worst_regret, chosen / best - 1);
    }
    return failure;
}

std::string what_was_verified(const RunRecord& record, const Problem& problem,
                              const std::vector<std::string>& baselines) {
    const auto worst =
        std::max_element(record.shapes.begin(), record.shapes.end(),
                         [](const ShapeReport& a, const ShapeReport& b) { return a.error_share < b.error_share; });
    const bool known = worst != record.shapes.end() && worst->error_share > 0;
    const std::string error = known ? fmt::format(", its error at most {} of what is allowed (at {})",
                                                  report::error_text(worst->error_share), worst->label)
                                    : "";
    return fmt::format("{} of the sweep on fresh inputs of several distributions, every element{}; {}; paired with {}",
                       counted(problem.points.size(), "shape"), error,
                       counted(record.dispatch.shapes, "held-out shape"), join(baselines, ", "));
}

Outcome outcome_of(const RunRecord& record) {
    bool holds = !record.in_process.measured() || record.in_process.headline.low > 1;
    return record.verified && record.headline.low > 1 && holds ? Outcome::improved : Outcome::no_improvement;
}

std::string finding_of(const std::vector<SanitizerRun>& runs) {
    for (const SanitizerRun& run : runs)
        if (run.verdict != Verdict::ok) return fmt::format("{}: {}", name_of(run.verdict), run.evidence);
    return {};
}

void mark_winners(RunRecord& record) {
    for (Strategy& strategy : record.strategies) {
        std::vector<std::string> points;
        for (const Regime& regime : record.regimes)
            if (regime.strategy == strategy.id) points.insert(points.end(), regime.points.begin(), regime.points.end());
        if (points.empty()) continue;
        strategy.state = Strategy::State::winner;
        strategy.reason = "wins at " + join(points, ", ");
    }
}

}  // namespace strop
