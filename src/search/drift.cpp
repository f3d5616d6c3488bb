#include "search/drift.h"

#include <algorithm>
#include <cmath>

#include "search/track.h"

namespace strop::search {

namespace {

constexpr double clearly = 0.92;      // as fast, or as slow: a screening is good to some percent
constexpr double out_of_reach = 2;    // times slower: that is the kernel
constexpr double least_drift = 0.07;  // on the log scale
constexpr int batches_at_rest = 4;    // where nothing has drifted so far
constexpr double most_of_judging = 1.0 / 7;
constexpr double seconds_of_turns = 0.25;

void scale(Measurement& time, double factor) {
    for (double* value : {&time.median_ns, &time.low_ns, &time.high_ns}) *value *= factor;
    for (double& sample : time.samples_ns) sample *= factor;
}

PointResult* point_of(Evaluation& evaluation, const std::string& label) {
    for (PointResult& result : evaluation.points)
        if (result.point.label == label) return &result;
    return nullptr;
}

}  // namespace

void Drift::level(std::vector<Evaluation>& batch, const std::vector<const Kernel*>& kernels) {
    for (const Evaluation& evaluation : batch) judging_seconds_ += evaluation.check_seconds + evaluation.time_seconds;
    for (const std::string& label : labels_) {
        const auto best = std::min_element(batch.begin(), batch.end(), [&](const Evaluation& a, const Evaluation& b) {
            return usable_nanoseconds(a, label) < usable_nanoseconds(b, label);
        });
        if (best == batch.end() || !std::isfinite(usable_nanoseconds(*best, label))) continue;
        const double nanoseconds = usable_nanoseconds(*best, label);
        const Contender who{best->kernel, {}, *kernels[static_cast<size_t>(best - batch.begin())], best->configuration};
        Best& known = best_.try_emplace(label, Best{who, nanoseconds}).first->second;
        const double ratio = nanoseconds / known.nanoseconds;
        double drift = 1;
        if (worth_asking(label, ratio)) drift = measured(known.who, who, point_of(*best, label)->point, ratio);
        if (nanoseconds / drift < known.nanoseconds) known = {who, nanoseconds / drift};
        if (drift == 1) continue;
        restless_.insert(label);
        for (Evaluation& evaluation : batch)
            if (PointResult* result = point_of(evaluation, label))
                for (Measurement* time : {&result->time, &result->cold}) scale(*time, 1 / drift);
    }
}

bool Drift::worth_asking(const std::string& label, double ratio) {
    const bool faster = ratio < clearly, slower = ratio > 1 / clearly && ratio < out_of_reach;
    const bool due = faster || (slower && (restless_.contains(label) || ++batches_[label] % batches_at_rest == 0));
    return due && asking_seconds_ <= most_of_judging * judging_seconds_;
}

// 1 where it cannot be told from chance.
double Drift::measured(const Contender& known, const Contender& other, const ShapePoint& point, double ratio) {
    ComparisonRequest request;
    request.contenders = {known, other};
    request.contenders[0].name = "known";
    request.contenders[1].name = "other";
    request.points = {point};
    request.effort = Effort::screen;
    request.seconds_per_point = seconds_of_turns;
    const Comparison turns = evaluator_.compare(request);
    asking_seconds_ += turns.compile_seconds + turns.check_seconds + turns.time_seconds;
    if (turns.points.empty() || turns.points[0].results.size() != 2) return 1;
    const double speedup = turns.points[0].results[1].speedup.ratio;  // of the known one
    if (!(speedup > 0)) return 1;
    const double drift = ratio / speedup;
    return std::fabs(std::log(drift)) > least_drift ? drift : 1;
}

}  // namespace strop::search
