#include "run/winner_notes.h"

#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop {

BundleNotes winner_notes(const Problem& problem, const search::DispatchPlan& plan,
                         const std::vector<Strategy>& strategies) {
    BundleNotes notes;
    for (size_t i = 0; i < plan.winners.size(); ++i) {
        std::string& text = notes.winners[static_cast<int>(i)];
        for (const Strategy& strategy : strategies)
            if (strategy.id == plan.winners[i].kernel.strategy) text = strategy.hypothesis;
        for (size_t p = 0; p < problem.points.size() && p < plan.samples.size(); ++p)
            if (const double ns = plan.samples[p].nanoseconds.at(i); std::isfinite(ns))
                text += fmt::format("\nmeasured {}: {}", describe(problem.points[p].dims), human_nanoseconds(ns));
    }
    return notes;
}

std::string header_note(const RunRecord& record) {
    return fmt::format(
        "{}: the fastest kernels found for {} ({}, {} cores), with a dispatch over all shapes.\n"
        "Made by strop, run {}; report.html says how it was measured and checked.",
        record.problem, record.machine.cpu, record.machine.isa, record.machine.cores, record.run);
}

std::string compiler_flags(const std::string& toolchain, const std::vector<DispatchWinner>& winners) {
    const size_t first = toolchain.find(" -");
    const std::string flags = first == std::string::npos ? "" : toolchain.substr(first + 1),
                      more = bundle_flags(winners);
    return more.empty() ? flags : flags + " " + more;
}

}  // namespace strop
