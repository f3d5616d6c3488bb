// strop show: one run with its strategies, verdicts and history.
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/models.h"
#include "cli/store_access.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "report/report.h"

namespace strop::cli {

namespace {

std::string strategies_text(const RunRecord& record) {
    std::vector<std::vector<std::string>> cells = {{"STRATEGY", "STATE", "CONFIDENCE", "WHY"}};
    for (const Strategy& strategy : record.strategies)
        cells.push_back({strategy.id, name_of(strategy.state), fmt::format("{:.2f}", strategy.confidence),
                         strategy.reason.empty() ? strategy.hypothesis : strategy.reason});
    return table(cells);
}

std::string experiments_text(const RunRecord& record) {
    std::string text;
    for (const Experiment& experiment : record.experiments) {
        text += fmt::format("experiment on {}: {}\n", experiment.strategy, experiment.hypothesis);
        for (const Probe& probe : experiment.probes) text += fmt::format("  probe {}\n", describe(experiment, probe));
    }
    return text.empty() ? text : text + "\n";
}

std::string history_text(const RunRecord& record) {
    std::vector<std::vector<std::string>> cells = {{"AT", "KERNEL", "CONFIGURATION", "VERDICT", "TIMES"}};
    for (const HistoryEntry& entry : record.history) {
        std::vector<std::string> times;
        for (const auto& [label, nanoseconds] : entry.nanoseconds)
            times.push_back(fmt::format("{} {}", label, human_nanoseconds(nanoseconds)));
        std::string first_line = split(entry.evidence, '\n').front();
        cells.push_back({fmt::format("{:.1f} s", entry.seconds), entry.kernel, describe(entry.configuration),
                         name_of(entry.verdict), entry.verdict == Verdict::ok ? join(times, ", ") : first_line});
    }
    return table(cells);
}

std::string verdicts_text(const RunRecord& record) {
    std::vector<std::string> parts;
    for (const auto& [verdict, count] : record.evaluations_by_verdict)
        parts.push_back(fmt::format("{} {}", count, verdict));
    return fmt::format("{} evaluations{}{}\n", record.evaluations, parts.empty() ? "" : ": ", join(parts, ", "));
}

// With its tunables, as `strop tune` takes it.
void print_kernel(const RunRecord& record, const std::string& id) {
    std::vector<std::string> known;
    for (const Kernel& kernel : record.kernels) {
        if (kernel.id == id) return fmt::print("{}", kernel.source);
        if (std::find(known.begin(), known.end(), kernel.id) == known.end()) known.push_back(kernel.id);
    }
    throw UsageError(fmt::format("{}: no winner of the run {}", id, record.run),
                     known.empty() ? "it has none" : "they are " + join(known, ", "));
}

}  // namespace

int command_show(const Arguments& arguments) {
    RunRecord record = load_named_run(arguments);
    if (arguments.has("--kernel")) {
        print_kernel(record, arguments.text("--kernel"));
        return 0;
    }
    if (arguments.has("--json")) {
        fmt::print("{}\n", trim(report::json(record)));
        return 0;
    }
    fmt::print("run {}, started {}, {}\n\n", record.run, record.started, name_of(record.outcome));
    fmt::print("{}\n", report::terminal(record, use_color(STDOUT_FILENO), terminal_width()));
    fmt::print("{}\n{}{}", strategies_text(record), experiments_text(record), verdicts_text(record));
    if (arguments.has("--calls")) fmt::print("\n{}", calls_text(load_calls(arguments, record.run)));
    if (arguments.has("--history")) fmt::print("\n{}", history_text(record));
    return 0;
}

}  // namespace strop::cli
