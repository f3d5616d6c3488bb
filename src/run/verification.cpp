#include "run/verification.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "stats/paired.h"

namespace strop {

namespace {

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
    shape.disturbed = disturbed_share(ours.time);
    shape.roofline_share = shape.roofline_ns > 0 ? shape.roofline_ns / ours.time.median_ns : 0;
}

}  // namespace

const ContenderResult* best_baseline(const PointComparison& point) {
    const ContenderResult* best = nullptr;
    for (size_t i = 1; i < point.results.size(); ++i) {
        const ContenderResult& result = point.results[i];
        if (result.verdict == Verdict::ok && (!best || result.time.median_ns < best->time.median_ns)) best = &result;
    }
    return best;
}

std::optional<Ratio> speedup_over_best(const Comparison& comparison) {
    std::vector<stats::Interval> ratios;
    for (const PointComparison& point : comparison.points) {
        const ContenderResult* best = best_baseline(point);
        if (point.results.front().verdict == Verdict::ok && best)
            ratios.push_back({best->speedup.ratio, best->speedup.low, best->speedup.high});
    }
    if (ratios.empty()) return {};
    const stats::Interval whole = stats::combine(ratios);
    return Ratio{whole.value, whole.low, whole.high};
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
            double ns = point.results[i].time.median_ns;
            if (best == 0 || ns < best) best = ns;
            if (i - 1 == choice) chosen = ns;
        }
        if (point.results.size() == 1 && whole.verdict == Verdict::ok) best = chosen = 1;   // nothing to choose
        if (best <= 0 || chosen <= 0) continue;
        ++check.timed;
        if (chosen <= 1.05 * best) ++check.within_5_percent;
        check.worst_regret = std::max(check.worst_regret, chosen / best - 1);
    }
    return failure;
}

std::string finding_of(const std::vector<SanitizerRun>& runs) {
    for (const SanitizerRun& run : runs)
        if (run.verdict != Verdict::ok) return fmt::format("{}: {}", name_of(run.verdict), run.evidence);
    return {};
}

std::optional<ShapePoint> place_of_finding(const std::vector<SanitizerRun>& runs, const std::vector<ShapePoint>& points) {
    for (const SanitizerRun& run : runs)
        if (run.verdict != Verdict::ok && static_cast<size_t>(run.shapes) < points.size())
            return points[static_cast<size_t>(run.shapes)];
    return {};
}

std::vector<search::Candidate> without(const std::vector<search::Candidate>& finalists, const std::string& kernel) {
    std::vector<search::Candidate> left;
    for (const search::Candidate& candidate : finalists)
        if (candidate.kernel.id != kernel) left.push_back(candidate);
    const bool any = std::any_of(left.begin(), left.end(), [](const auto& one) { return !one.kernel.condition; });
    return any ? left : std::vector<search::Candidate>{};
}

void mark_lost(const std::string& kernel, const std::string& why, RunRecord& record) {
    for (Strategy& strategy : record.strategies) {
        if (strategy.id != kernel) continue;
        strategy.state = Strategy::State::pruned;
        strategy.reason = why;
    }
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
