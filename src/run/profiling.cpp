#include "run/profiling.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "playbook/playbook.h"
#include "problem/trace.h"
#include "run/diagnosis.h"
#include "run/roofline.h"
#include "run/run_machine.h"

namespace strop {

namespace {

constexpr size_t most_points = 2, listed_instructions = 48;
constexpr int text_width = 110;

}  // namespace

report::ProfileReport profile_kernel(judge::WorkerClient& worker, const Problem& problem, const Kernel& kernel,
                                     const Configuration& configuration) {
    const Machine machine = worker.machine(lasting_ceilings);
    const playbook::Playbook playbook(problem, trace_reference(problem), machine);
    Profile profile = worker.profile({kernel, configuration, problem.points, Effort::full, {}});
    report::ProfileReport report = explained(std::move(profile), problem, playbook.graph(), machine);
    report.kernel = kernel.id;
    report.compiler = worker.toolchain();
    return report;
}

report::ProfileReport explained(Profile profile, const Problem& problem, const Graph& graph, const Machine& machine,
                                const std::map<std::string, double>& least_ns) {
    report::ProfileReport report;
    report.problem = problem.name;
    report.machine = machine;
    report.profile = std::move(profile);
    for (const PointProfile& point : report.profile.points) {
        auto known = least_ns.find(point.point.label);
        const double least =
            known == least_ns.end() || point.time.median_ns < known->second ? point.time.median_ns : known->second;
        const Roofline line = seen_beside(roofline(problem, graph, machine, point.point.dims), least);
        ShapeReport shape;
        shape.label = point.point.label;
        shape.dims = point.point.dims;
        shape.nanoseconds = point.time.median_ns;
        shape.low_ns = point.time.low_ns;
        shape.high_ns = point.time.high_ns;
        note_roofline(line, shape);
        if (shape.nanoseconds > 0) shape.roofline_share = line.nanoseconds / shape.nanoseconds;
        report.shapes.push_back(shape);
        report.diagnoses.push_back(diagnose(point, line, machine));
    }
    return report;
}

std::map<std::string, double> least_times(const std::vector<HistoryEntry>& history) {
    std::map<std::string, double> least;
    for (const HistoryEntry& entry : history) {
        if (entry.verdict != Verdict::ok) continue;
        for (const auto& [label, nanoseconds] : entry.nanoseconds) {
            auto at = least.emplace(label, nanoseconds).first;
            at->second = std::min(at->second, nanoseconds);
        }
    }
    return least;
}

std::vector<ShapePoint> worth_profiling(const Evaluation& evaluation, const std::vector<ShapeReport>& shapes) {
    std::vector<std::pair<double, ShapePoint>> found;  // by share of the roofline
    for (const PointResult& result : evaluation.points)
        for (const ShapeReport& shape : shapes)
            if (result.verdict == Verdict::ok && shape.label == result.point.label && result.time.median_ns > 0)
                found.emplace_back(shape.roofline_ns / result.time.median_ns, result.point);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<ShapePoint> points;
    for (size_t i = 0; i < std::min(most_points, found.size()); ++i) points.push_back(found[i].second);
    return points;
}

std::string profile_text(const report::ProfileReport& report) {
    std::string text = report::profile_terminal(report, false, text_width);
    for (const PointProfile& point : report.profile.points) {
        if (point.loops.empty()) continue;
        std::vector<std::string> lines = split(point.loops.front().listing, '\n');
        if (lines.size() > listed_instructions) {
            lines.resize(listed_instructions);
            lines.push_back("...");
        }
        text += fmt::format("\nIts hottest loop at {}:\n{}\n", point.point.label, join(lines, "\n"));
    }
    return text;
}

}  // namespace strop
