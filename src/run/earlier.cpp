#include "run/earlier.h"

#include <limits>

#include "stats/sample.h"

namespace strop {

namespace {

constexpr size_t most_runs = 4;
constexpr size_t least_measurements = 3;  // fewer say little

double cost_of(const HistoryEntry& entry, size_t shapes) {
    std::vector<double> times;
    for (const auto& [label, nanoseconds] : entry.nanoseconds) times.push_back(nanoseconds);
    bool complete = entry.verdict == Verdict::ok && times.size() == shapes;
    return complete ? stats::geometric_mean(times) : std::numeric_limits<double>::infinity();
}

}  // namespace

EarlierRuns::EarlierRuns(Store& store, const RunRecord& current) {
    for (const RunSummary& summary : store.runs(current.problem)) {
        if (records_.size() >= most_runs) break;
        if (summary.run == current.run) continue;
        std::optional<RunRecord> record = store.load_run(summary.run);
        if (record && record->problem_hash == current.problem_hash &&
            record->machine.fingerprint == current.machine.fingerprint)
            records_.push_back(std::move(*record));
    }
}

std::vector<tune::EarlierRun> EarlierRuns::of(const std::string& kernel) const {
    std::vector<tune::EarlierRun> runs;
    for (const RunRecord& record : records_) {
        tune::EarlierRun run;
        for (const HistoryEntry& entry : record.history) {
            if (entry.kernel != kernel) continue;
            run.configurations.push_back(entry.configuration);
            run.costs.push_back(cost_of(entry, record.shapes.size()));
        }
        if (run.costs.size() >= least_measurements) runs.push_back(std::move(run));
    }
    return runs;
}

}  // namespace strop
