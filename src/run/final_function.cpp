#include "run/final_function.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/dispatch.h"
#include "run/winner_notes.h"

namespace strop {

namespace {

void mark_lost(const std::string& kernel, const std::string& why, RunRecord& record) {
    for (Strategy& strategy : record.strategies) {
        if (strategy.id != kernel) continue;
        strategy.state = Strategy::State::pruned;
        strategy.reason = why;
    }
}

}  // namespace

Kernel FinalFunction::kernel() const { return bundled_kernel(source, dispatch.winners); }

std::string FinalFunction::kernel_at(const Problem& problem, const Dimensions& dims) const {
    return dispatch.winners[static_cast<size_t>(pick(dispatch.tree, dispatch.winners, problem, dims))].kernel.id;
}

FinalFunction final_function_of(const Problem& problem, search::DispatchPlan dispatch,
                                const std::vector<Strategy>& strategies) {
    BundleNotes notes = winner_notes(problem, dispatch, strategies);
    std::string source = bundle(problem, dispatch.winners, dispatch.tree, notes);
    return {std::move(dispatch), std::move(notes), std::move(source)};
}

std::optional<ShapePoint> place_of_finding(const std::vector<SanitizerRun>& runs,
                                           const std::vector<ShapePoint>& points) {
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

std::string drop_winner_at_fault(const Problem& problem, const FinalFunction& function,
                                 const std::vector<ShapePoint>& sanitized, search::Result& found, RunRecord& record) {
    const std::optional<ShapePoint> place = place_of_finding(record.sanitizers, sanitized);
    if (!place) return {};
    const std::string id = function.kernel_at(problem, place->dims);
    found.finalists = without(found.finalists, id);
    found.reserves = without(found.reserves, id);
    if (found.finalists.empty()) found.finalists = found.reserves;
    if (found.finalists.empty()) return {};
    mark_lost(id, function.finding, record);
    return fmt::format("{} won and is out: {}", id, function.finding);
}

}  // namespace strop
