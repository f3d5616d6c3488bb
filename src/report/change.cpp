#include "report/change.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/facts.h"
#include "stats/paired.h"

namespace strop::report {

namespace {

const ShapeReport* same_shape(const ShapeReport& shape, const RunRecord& record) {
    for (const ShapeReport& other : record.shapes)
        if (other.label == shape.label && other.dims == shape.dims) return &other;
    return nullptr;
}

std::string common_baseline(const ShapeReport& before, const ShapeReport& after) {
    auto in_both = [&](const std::string& name) { return speedup_over(before, name) && speedup_over(after, name); };
    if (!before.best_baseline.empty() && in_both(before.best_baseline)) return before.best_baseline;
    std::string fastest;
    for (const auto& [name, nanoseconds] : before.baselines)
        if (in_both(name) && (fastest.empty() || nanoseconds < before.baselines.at(fastest))) fastest = name;
    return fastest;
}

// Independent errors add in squares on the log scale.
Ratio quotient(const Ratio& after, const Ratio& before) {
    const double down = std::hypot(std::log(after.ratio / after.low), std::log(before.high / before.ratio));
    const double up = std::hypot(std::log(after.high / after.ratio), std::log(before.ratio / before.low));
    const double ratio = after.ratio / before.ratio;
    return {ratio, ratio * std::exp(-down), ratio * std::exp(up)};
}

Decision decision_of(const Ratio& change, double tolerance) {
    switch (stats::decide({change.ratio, change.low, change.high}, tolerance)) {
        case stats::Answer::faster: return Decision::faster;
        case stats::Answer::slower: return Decision::slower;
        case stats::Answer::undecided: break;
    }
    return Decision::undecided;
}

}  // namespace

std::vector<Change> changes(const RunRecord& before, const RunRecord& after, double tolerance) {
    std::vector<Change> changes;
    for (const ShapeReport& earlier : before.shapes) {
        const ShapeReport* later = same_shape(earlier, after);
        if (!later) continue;
        Change& change = changes.emplace_back();
        change.label = earlier.label;
        change.dims = earlier.dims;
        change.baseline = common_baseline(earlier, *later);
        if (change.baseline.empty()) continue;
        change.before = *speedup_over(earlier, change.baseline);
        change.after = *speedup_over(*later, change.baseline);
        change.change = quotient(change.after, change.before);
        change.decision = decision_of(change.change, tolerance);
    }
    return changes;
}

std::vector<Change> changes_in_turns(const Comparison& comparison, double tolerance) {
    std::vector<Change> changes;
    for (const PointComparison& point : comparison.points) {
        const ContenderResult &later = point.results.at(0), &earlier = point.results.at(1);
        if (later.verdict != Verdict::ok || earlier.verdict != Verdict::ok) continue;
        Change& change = changes.emplace_back();
        change.label = point.point.label;
        change.dims = point.point.dims;
        change.baseline = earlier.name;
        change.before = {1, 1, 1};
        change.after = change.change = earlier.speedup;
        change.decision = decision_of(change.change, tolerance);
        change.in_turns = true;
    }
    return changes;
}

std::vector<std::string> doubts(const RunRecord& before, const RunRecord& after) {
    std::vector<std::string> doubts;
    if (before.problem_hash != after.problem_hash) doubts.push_back("the problem has changed between the two");
    if (before.machine.fingerprint != after.machine.fingerprint)
        doubts.push_back(fmt::format("measured on two machines: {} with {} cores, {} with {} cores", before.machine.cpu,
                                     before.machine.cores, after.machine.cpu, after.machine.cores));
    for (const RunRecord* record : {&before, &after})
        if (!record->verified) doubts.push_back(record->run + " is not verified");
    return doubts;
}

std::optional<Ratio> overall(const std::vector<Ratio>& ratios) {
    if (ratios.empty()) return {};
    std::vector<stats::Interval> intervals;
    for (const Ratio& ratio : ratios) intervals.push_back({ratio.ratio, ratio.low, ratio.high});
    const stats::Interval whole = stats::combine(intervals);
    return Ratio{whole.value, whole.low, whole.high};
}

std::optional<Ratio> overall(const std::vector<Change>& changes) {
    std::vector<Ratio> ratios;
    for (const Change& change : changes)
        if (!change.baseline.empty()) ratios.push_back(change.change);
    return overall(ratios);
}

}  // namespace strop::report
