// strop runs: past runs, newest first.
#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/store_access.h"
#include "cli/table.h"

namespace strop::cli {

namespace {

std::string to_text(const std::vector<RunSummary>& runs, const std::string& problem) {
    if (runs.empty())
        return fmt::format("no runs {}; `strop optimize PROBLEM` makes one\n",
                           problem.empty() ? "yet" : fmt::format("of '{}'", problem));
    std::vector<std::vector<std::string>> cells = {{"RUN", "STARTED", "OUTCOME", "SPEEDUP", "OVER", "TIME", "JUDGED"}};
    for (const RunSummary& run : runs)
        cells.push_back({run.run, run.started, run.outcome, run.speedup > 0 ? fmt::format("{:.2f}x", run.speedup) : "-",
                         run.baseline.empty() ? "-" : run.baseline, fmt::format("{:.0f} s", run.seconds),
                         std::to_string(run.evaluations)});
    return table(cells);
}

}  // namespace

int command_runs(const Arguments& arguments) {
    // A path is accepted where a problem's name is meant.
    fs::path given = arguments.text("PROBLEM");
    fs::path name = given.filename().empty() ? given.parent_path().filename() : given.filename();
    std::vector<RunSummary> runs;
    if (std::unique_ptr<Store> store = existing_store(arguments)) runs = store->runs(name.string());
    fmt::print("{}", arguments.has("--json") ? json(runs) : to_text(runs, name.string()));
    return 0;
}

}  // namespace strop::cli
