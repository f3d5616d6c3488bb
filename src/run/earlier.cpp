#include "run/earlier.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/json.h"
#include "run/recording.h"
#include "stats/sample.h"

namespace strop {

namespace {

constexpr size_t most_runs = 4, most_winners = 5;
constexpr size_t least_measurements = 3;  // fewer say little

double cost_of(const HistoryEntry& entry, size_t shapes) {
    std::vector<double> times;
    for (const auto& [label, nanoseconds] : entry.nanoseconds) times.push_back(nanoseconds);
    bool complete = entry.verdict == Verdict::ok && times.size() == shapes;
    return complete ? stats::geometric_mean(times) : std::numeric_limits<double>::infinity();
}

std::string to_text(const std::vector<tune::EarlierRun>& runs) {
    Json json = Json::array();
    for (const tune::EarlierRun& run : runs) {
        Json entries = Json::array();   // [configuration, cost]; a failure has no cost
        for (size_t i = 0; i < run.costs.size(); ++i)
            entries.push_back({configuration_to_json(run.configurations[i]),
                               std::isfinite(run.costs[i]) ? Json(run.costs[i]) : Json()});
        json.push_back(entries);
    }
    return dump(json);
}

std::vector<tune::EarlierRun> from_text(const std::string& text) {
    std::vector<tune::EarlierRun> runs;
    for (const Json& entries : Json::parse(text)) {
        tune::EarlierRun& run = runs.emplace_back();
        for (const Json& entry : entries) {
            run.configurations.push_back(configuration_from_json(entry.at(0)));
            run.costs.push_back(entry.at(1).is_null() ? std::numeric_limits<double>::infinity()
                                                      : entry.at(1).get<double>());
        }
    }
    return runs;
}

}  // namespace

EarlierRuns::EarlierRuns(Store& store, const RunRecord& current) : store_(store), run_(current.run) {
    for (const RunSummary& summary : store.runs(current.problem)) {
        if (records_.size() >= most_runs) break;
        if (summary.run == current.run) continue;
        std::optional<RunRecord> record = store.load_run(summary.run);
        if (record && record->problem_hash == current.problem_hash &&
            record->machine.fingerprint == current.machine.fingerprint)
            records_.push_back(std::move(*record));
    }
}

std::vector<Proposal> EarlierRuns::winners() {
    if (std::optional<std::string> known = store_.find_document(run_, earlier_winners_key)) {
        std::vector<Proposal> winners;
        for (const Json& json : Json::parse(*known))
            winners.push_back({json.at("strategy").get<Strategy>(), json.at("kernel").get<Kernel>(), true});
        return winners;
    }
    std::vector<Proposal> winners = found_winners();
    Json json = Json::array();
    for (const Proposal& winner : winners) json.push_back({{"strategy", winner.strategy}, {"kernel", winner.kernel}});
    store_.add_document(run_, earlier_winners_key, dump(json));
    return winners;
}

std::vector<Proposal> EarlierRuns::found_winners() const {
    std::vector<Proposal> winners;
    auto known = [&](const Kernel& kernel) {
        return std::any_of(winners.begin(), winners.end(),
                           [&](const Proposal& winner) { return winner.kernel.source == kernel.source; });
    };
    for (const RunRecord& record : records_)
        for (const Kernel& kernel : record.kernels)
            for (const Regime& regime : record.regimes) {
                if (regime.kernel != kernel.id || known(kernel) || winners.size() == most_winners) continue;
                Proposal winner;
                winner.proven = true;
                for (const Strategy& strategy : record.strategies)
                    if (strategy.id == kernel.strategy) winner.strategy = strategy;
                winner.strategy.id = kernel.strategy;
                winner.strategy.parent.clear();   // it may not take part in this run
                winner.strategy.state = Strategy::State::active;
                winner.strategy.reason.clear();
                winner.kernel = kernel;
                winner.kernel.parent.clear();
                winner.kernel.initial = regime.configuration;
                winners.push_back(std::move(winner));
            }
    return winners;
}

std::vector<tune::EarlierRun> EarlierRuns::of(const std::string& kernel) {
    const std::string key = earlier_prefix + kernel;
    if (std::optional<std::string> known = store_.find_document(run_, key)) return from_text(*known);
    std::vector<tune::EarlierRun> runs = measured(kernel);
    store_.add_document(run_, key, to_text(runs));
    return runs;
}

std::vector<tune::EarlierRun> EarlierRuns::measured(const std::string& kernel) const {
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
