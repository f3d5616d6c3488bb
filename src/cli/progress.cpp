#include "cli/progress.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::cli {

void Progress::phase(const std::string& what) {
    phase_ = what;
    trying_.clear();
    seconds_left_ = -1;
    painter_.line(what);
    paint();
}

void Progress::baselines(const RunRecord& record) {
    for (const ShapeReport& shape : record.shapes) {
        order_.push_back(shape.label);
        std::vector<std::string> parts;
        for (const auto& [name, ns] : shape.baselines) {
            parts.push_back(fmt::format("{} {}", name, human_nanoseconds(ns)));
            double& best = best_[shape.label].baseline;
            if (best == 0 || ns < best) best = ns;
        }
        painter_.line(fmt::format("  {} ({}): {}", shape.label, describe(shape.dims), join(parts, ", ")));
    }
    for (const MissingBaseline& missing : record.missing_baselines)
        painter_.line(fmt::format("  {} is not measured: {}", missing.name, missing.how));
}

void Progress::strategies(const std::vector<Strategy>& strategies) {
    for (const Strategy& strategy : strategies) {
        auto [known, fresh] = known_.emplace(strategy.id, strategy.state);
        if (fresh) painter_.line(fmt::format("  strategy {}: {}", strategy.id, strategy.hypothesis));
        else if (known->second != strategy.state && strategy.state == Strategy::State::pruned)
            painter_.line(fmt::format("  pruned {}: {}", strategy.id, split(strategy.reason, '\n').front()));
        known->second = strategy.state;
    }
}

void Progress::evaluation(const HistoryEntry& entry, const RunRecord& record, double seconds_left) {
    evaluations_ = record.evaluations;
    seconds_left_ = seconds_left;
    trying_ = fmt::format("{}  {}", entry.kernel, describe(entry.configuration));
    for (const auto& [label, ns] : entry.nanoseconds) {
        Best& best = best_[label];
        if (entry.verdict != Verdict::ok || (best.nanoseconds > 0 && ns >= best.nanoseconds)) continue;
        best.nanoseconds = ns;
        best.kernel = entry.kernel;
    }
    if (!painter_.live() && evaluations_ % 25 == 0) {
        std::vector<std::string> parts;
        for (const std::string& label : order_)
            if (best_[label].nanoseconds > 0)
                parts.push_back(fmt::format("{} {}", label, human_nanoseconds(best_[label].nanoseconds)));
        painter_.line(fmt::format("  {} evaluations, best so far: {}", evaluations_, join(parts, ", ")));
    }
    paint();
}

void Progress::note(const std::string& text) { painter_.line(text); }

std::string Progress::shape_line(const std::string& label, const Best& best) const {
    if (best.nanoseconds <= 0) return fmt::format("  {:<10} –", label);
    std::string against =
        best.baseline > 0 ? fmt::format("{:.2f}× the best baseline", best.baseline / best.nanoseconds) : "";
    return fmt::format("  {:<10} {:>9}  {:<26} {}", label, human_nanoseconds(best.nanoseconds), against, best.kernel);
}

void Progress::paint() {
    if (!painter_.live()) return;
    std::vector<std::string> block;
    std::string left = seconds_left_ > 0 ? fmt::format(", {:.0f} s of search left", seconds_left_) : "";
    block.push_back(fmt::format("{} ({} evaluations{})", phase_, evaluations_, left));
    for (const std::string& label : order_)
        if (auto found = best_.find(label); found != best_.end()) block.push_back(shape_line(label, found->second));
    if (!trying_.empty()) block.push_back("  tried " + trying_);
    painter_.paint(block);
}

}  // namespace strop::cli
