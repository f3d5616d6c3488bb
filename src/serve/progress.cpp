#include "serve/progress.h"

#include <map>

#include "stats/sample.h"

namespace strop::serve {

namespace {

bool improves(double nanoseconds, double best) { return nanoseconds > 0 && (best == 0 || nanoseconds < best); }

}  // namespace

std::vector<BestSoFar> best_so_far(const RunRecord& record) {
    std::vector<BestSoFar> shapes;
    for (const ShapeReport& shape : record.shapes) {
        BestSoFar& best = shapes.emplace_back();
        best.label = shape.label;
        best.dims = shape.dims;
        for (const auto& [name, nanoseconds] : shape.baselines)
            if (improves(nanoseconds, best.baseline_ns)) {
                best.baseline = name;
                best.baseline_ns = nanoseconds;
            }
        for (const HistoryEntry& entry : record.history) {
            auto time = entry.nanoseconds.find(shape.label);
            if (entry.verdict != Verdict::ok || time == entry.nanoseconds.end()) continue;
            if (!improves(time->second, best.nanoseconds)) continue;
            best.kernel = entry.kernel;
            best.nanoseconds = time->second;
        }
    }
    return shapes;
}

KernelSeen seen_of(const RunRecord& record, const std::string& kernel) {
    KernelSeen seen;
    std::map<std::string, double> fastest;  // by label
    for (const HistoryEntry& entry : record.history) {
        if (entry.kernel != kernel) continue;
        ++seen.judged;
        if (entry.verdict != Verdict::ok) continue;
        ++seen.right;
        for (const auto& [label, nanoseconds] : entry.nanoseconds) {
            double& best = fastest[label];
            if (improves(nanoseconds, best)) best = nanoseconds;
        }
    }
    std::vector<double> ratios;
    for (const BestSoFar& shape : best_so_far(record)) {
        if (shape.baseline_ns <= 0 || fastest[shape.label] <= 0) return seen;
        ratios.push_back(shape.baseline_ns / fastest[shape.label]);
    }
    if (!ratios.empty()) seen.speedup = stats::geometric_mean(ratios);
    return seen;
}

BestUse best_use(const RunRecord& record, const std::string& kernel) {
    for (const Regime& regime : record.regimes)
        if (regime.kernel == kernel) return {regime.configuration, regime.points};
    std::map<std::string, double> fastest;  // of all kernels
    for (const BestSoFar& shape : best_so_far(record)) fastest[shape.label] = shape.nanoseconds;
    BestUse best;
    double best_ratio = 0;
    for (const HistoryEntry& entry : record.history) {
        if (entry.kernel != kernel || entry.verdict != Verdict::ok) continue;
        std::vector<std::string> labels;
        std::vector<double> ratios;
        for (const auto& [label, nanoseconds] : entry.nanoseconds)
            if (nanoseconds > 0 && fastest[label] > 0) {
                labels.push_back(label);
                ratios.push_back(nanoseconds / fastest[label]);
            }
        if (labels.empty() || labels.size() < best.points.size()) continue;
        const double ratio = stats::geometric_mean(ratios);
        if (labels.size() == best.points.size() && ratio >= best_ratio) continue;
        best = {entry.configuration, labels};
        best_ratio = ratio;
    }
    return best;
}

}  // namespace strop::serve
