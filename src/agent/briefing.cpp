#include "agent/briefing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"

namespace strop::agent {

namespace {

constexpr size_t most_lessons = 12;
constexpr size_t evidence_bytes = 4000;

std::string machine_text(const Machine& machine) {
    std::string text = fmt::format("{} ({}), {} cores, vectors of {} bytes, {} vector registers\n", machine.cpu,
                                   machine.isa, machine.cores, machine.vector_bytes, machine.vector_registers);
    for (const CacheLevel& cache : machine.caches)
        text += fmt::format("L{}: {} for {} core{}, read {:.0f} GB/s in all\n", cache.level,
                            human_bytes(static_cast<double>(cache.bytes)), cache.shared_by,
                            cache.shared_by == 1 ? "" : "s", cache.read_bytes_per_second / 1e9);
    const Ceilings& ceilings = machine.ceilings;
    return text + fmt::format(
                      "float32: {:.0f} GFLOP/s on one core, {:.0f} on all\n"
                      "memory: read {:.1f} GB/s, streaming copy {:.1f} GB/s, on one core {:.1f} GB/s\n",
                      ceilings.fma_flops_one_core / 1e9, ceilings.fma_flops_all_cores / 1e9, ceilings.memory_read / 1e9,
                      ceilings.memory_copy / 1e9, ceilings.memory_copy_one_core / 1e9);
}

// A roofline that a measured time beats bounds nothing.
bool bounds(const ShapeReport& shape, double nanoseconds) {
    return shape.roofline_ns > 0 && shape.roofline_ns <= roofline_exceeded * nanoseconds;
}

std::string shape_text(const ShapeReport& shape) {
    std::vector<std::string> baselines;
    for (const auto& [name, ns] : shape.baselines)
        baselines.push_back(fmt::format("{} {}", name, human_nanoseconds(ns)));
    const bool bound = std::all_of(shape.baselines.begin(), shape.baselines.end(),
                                   [&](const auto& baseline) { return bounds(shape, baseline.second); });
    std::string roofline = bound && shape.roofline_ns > 0
                               ? fmt::format("; roofline {} ({})", human_nanoseconds(shape.roofline_ns), shape.bound)
                               : "";
    return fmt::format("{} ({}): {}{}\n", shape.label, strop::describe(shape.dims), join(baselines, ", "), roofline);
}

std::string range_text(const Problem& problem) {
    std::vector<std::string> parts;
    for (const auto& [name, range] : problem.range)
        parts.push_back(fmt::format("{} in [{}, {}]", name, range.low, range.high));
    for (const Expression& condition : problem.require) parts.push_back(condition.text());
    return join(parts, ", ");
}

const ShapeReport* shape_of(const Briefing& briefing, const std::string& label) {
    for (const ShapeReport& shape : briefing.shapes)
        if (shape.label == label) return &shape;
    return nullptr;
}

std::string time_text(const ShapeReport& shape, double ns) {
    std::string text = fmt::format("{} ({}): {}", shape.label, strop::describe(shape.dims), human_nanoseconds(ns));
    if (shape.bytes > 0) text += fmt::format(", {:.1f} GB/s", shape.bytes / ns);
    if (shape.flops > 0) text += fmt::format(", {:.1f} GFLOP/s", shape.flops / ns);
    if (bounds(shape, ns))
        text += fmt::format(", {:.0f}% of the roofline ({})", 100 * shape.roofline_ns / ns, shape.bound);
    const std::pair<const std::string, double>* best = nullptr;
    for (const auto& baseline : shape.baselines)
        if (!best || baseline.second < best->second) best = &baseline;
    if (best) text += fmt::format(", {:.2f} times {}", best->second / ns, best->first);
    return text + "\n";
}

}  // namespace

std::string describe(const Briefing& briefing, const std::string& role) {
    auto is = [&](std::initializer_list<std::string_view> roles) {
        return std::find(roles.begin(), roles.end(), role) != roles.end();
    };
    std::string text = fmt::format("## The computation: {}\n\n", briefing.problem.name);
    if (!is({"scorer", "reflector"}))
        text += fmt::format("```{}\n{}\n```\n\nThe kernel's function:\n{}\n", briefing.reference_language,
                            trim(briefing.reference), signature(briefing.problem));
    if (!briefing.graph.empty() && is({"planner"}))
        text += fmt::format("\nTraced graph, one line a node:\n{}\n", trim(briefing.graph));
    if (!is({"scorer", "reflector"})) text += fmt::format("\nAdmissible shapes: {}\n", range_text(briefing.problem));
    text += "\n## Shapes that matter, with the baselines measured here\n\n";
    for (const ShapeReport& shape : briefing.shapes) text += shape_text(shape);
    if (!is({"fixer", "scorer"})) text += "\n## The machine\n\n" + machine_text(briefing.machine);
    if (!briefing.known.empty() && is({"planner", "coder"})) {
        text += "\n## Strategies of the built-in playbook, tried in any case\n\n";
        for (const Strategy& strategy : briefing.known)
            text += fmt::format("- {} ({}): {}\n", strategy.id, strategy.family, strategy.hypothesis);
    }
    if (!briefing.lessons.empty() && is({"planner", "coder", "analyst"})) {
        text += "\n## What earlier runs learned\n\n";
        for (size_t i = 0; i < std::min(most_lessons, briefing.lessons.size()); ++i)
            text += fmt::format("- {}\n", briefing.lessons[i]);
    }
    return text;
}

std::string describe_tolerance(const Problem& problem) {
    if (problem.tolerance)
        return fmt::format("|error| <= {:g} + {:g} * |expected|", problem.tolerance->absolute,
                           problem.tolerance->relative);
    return "|error| <= q * (|expected| + rms(expected)), where q follows from what the reference itself loses in "
           "float32: at "
           "least 16 units in the last place, at most 1e-2; integers and booleans exactly";
}

std::string describe_best(const Briefing& briefing, const BestKnown& best, bool source) {
    std::string text =
        fmt::format("## The best kernel so far: {} (by {})\n\nIts configuration: {}\n{}", best.kernel.id,
                    best.kernel.author.empty() ? "the playbook" : best.kernel.author,
                    strop::describe(best.evaluation.configuration), describe_times(briefing, best.evaluation));
    text += "The least time of all kernels:";
    for (const auto& [label, nanoseconds] : best.least_ns)
        text += fmt::format(" {} {}", label, human_nanoseconds(nanoseconds));
    return text + (source ? fmt::format("\n\n```cpp\n{}\n```\n", trim(best.kernel.source)) : "\n");
}

std::string describe_times(const Briefing& briefing, const Evaluation& evaluation) {
    std::string text;
    for (const PointResult& result : evaluation.points) {
        const ShapeReport* shape = shape_of(briefing, result.point.label);
        if (result.verdict != Verdict::ok) text += fmt::format("{}: {}\n", result.point.label, name_of(result.verdict));
        else if (shape && result.time.median_ns > 0) text += time_text(*shape, result.time.median_ns);
    }
    return text;
}

std::string describe_standings(const std::vector<Strategy>& strategies) {
    std::string text;
    for (const Strategy& strategy : strategies)
        text += fmt::format("- {} (by {}{}): {}, standing {:.2f}{}\n", strategy.id, strategy.proposer,
                            strategy.parent.empty() ? "" : ", from " + strategy.parent, name_of(strategy.state),
                            strategy.confidence, strategy.reason.empty() ? "" : "; " + strategy.reason);
    return text;
}

std::string describe_experiments(const std::vector<Experiment>& experiments) {
    std::string text;
    for (const Experiment& experiment : experiments) {
        text += fmt::format("- on {}: {}\n", experiment.strategy, experiment.hypothesis);
        for (const Probe& probe : experiment.probes)
            text += fmt::format("  probe {}\n", strop::describe(experiment, probe));
    }
    return text.empty() ? text : "Experiments so far, each a partial conclusion:\n" + text;
}

std::string describe_failure(const Evaluation& evaluation) {
    std::string text = evaluation.evidence.substr(0, evidence_bytes);
    for (const PointResult& result : evaluation.points)
        if (result.verdict != Verdict::ok) {
            text += fmt::format("\nat the shape {}", strop::describe(result.point.dims));
            break;
        }
    return text;
}

}  // namespace strop::agent
