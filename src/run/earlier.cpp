#include "run/earlier.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"
#include "core/json.h"
#include "knowledge/digest.h"
#include "run/profiling.h"
#include "run/recording.h"
#include "stats/sample.h"
#include "tune/space.h"

namespace strop {

namespace {

constexpr size_t most_runs = 4, most_other_targets = 2, most_winners = 5;
constexpr size_t least_measurements = 3;  // fewer say little

// The geometric mean of its times over the least ones: a search leaves shapes out where a kernel does not win.
double cost_of(const HistoryEntry& entry, const std::map<std::string, double>& least) {
    if (entry.verdict != Verdict::ok || entry.nanoseconds.empty()) return std::numeric_limits<double>::infinity();
    std::vector<double> ratios;
    for (const auto& [label, nanoseconds] : entry.nanoseconds) ratios.push_back(nanoseconds / least.at(label));
    return stats::geometric_mean(ratios);
}

std::string to_text(const std::vector<tune::EarlierRun>& runs) {
    Json json = Json::array();
    for (const tune::EarlierRun& run : runs) {
        Json entries = Json::array();  // [configuration, cost]; a failure has no cost
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

Json to_json(const Experience& experience, bool allowed) {
    Json winners = Json::array();
    for (const Experience::Winner& winner : experience.winners)
        winners.push_back({{"problem", winner.problem},
                           {"strategy", winner.strategy},
                           {"configuration", configuration_to_json(winner.configuration)},
                           {"imported", winner.imported}});
    return {{"allowed", allowed}, {"winners", winners}, {"losers", experience.losers}};
}

Experience experience_from(const Json& json) {
    Experience experience;
    for (const Json& winner : json.at("winners"))
        experience.winners.push_back({winner.at("problem"), winner.at("strategy"),
                                      configuration_from_json(winner.at("configuration")),
                                      winner.value("imported", false)});
    experience.losers = json.at("losers").get<std::vector<std::string>>();
    return experience;
}

// The kernel's first guess with the values of `other` that its space holds; nothing where that is not valid.
std::optional<Configuration> fitted(const Kernel& kernel, const Configuration& other) {
    Configuration configuration = kernel.initial;
    for (const Tunable& tunable : kernel.space.tunables) {
        auto won = other.find(tunable.name);
        if (won == other.end()) continue;
        if (std::find(tunable.values.begin(), tunable.values.end(), won->second) != tunable.values.end())
            configuration[tunable.name] = won->second;
    }
    try {
        if (tune::Space(kernel.space).find(configuration)) return configuration;
    } catch (const UsageError&) {
        // The search says of such a space why it is of no use.
    }
    return std::nullopt;
}

}  // namespace

EarlierRuns::EarlierRuns(Store& store, const RunRecord& current, const Signature& signature, bool allowed,
                         Store* source)
    : store_(store),
      source_(source ? *source : store),
      run_(current.run),
      allowed_(allowed) {
    std::optional<std::string> kept = store.find_document(run_, experience_key);
    if (kept) allowed_ = Json::parse(*kept).at("allowed");
    if (!allowed_) {
        if (!kept) store.add_document(run_, experience_key, dump(to_json({}, false)));
        return;
    }
    find_runs(current);
    find_relatives(current, signature);
}

namespace {

// The same machine, whose kernels are for another instruction set.
bool differ_in_target(const Machine& a, const Machine& b) {
    return a.target != b.target && a.cpu == b.cpu && a.cores == b.cores;
}

}  // namespace

void EarlierRuns::find_runs(const RunRecord& current) {
    std::vector<RunSummary> summaries = source_.runs(current.problem);
    std::stable_partition(summaries.begin(), summaries.end(),
                          [](const RunSummary& summary) { return summary.origin.empty(); });
    for (const RunSummary& summary : summaries) {
        if (records_.size() >= most_runs) break;
        if (summary.run == current.run) continue;
        std::optional<RunRecord> record = source_.load_named(summary.run);
        if (!record || record->problem_hash != current.problem_hash ||
            record->settings.device != current.settings.device)
            continue;
        if (record->machine.fingerprint == current.machine.fingerprint) records_.push_back(std::move(*record));
        else if (record->is_finished() && differ_in_target(record->machine, current.machine) &&
                 relatives_.size() < most_other_targets)
            relatives_.push_back(std::move(*record));
    }
}

void EarlierRuns::find_relatives(const RunRecord& current, const Signature& signature) {
    if (signature.exact.empty()) return;
    std::vector<Relative> near = source_.relatives(signature, least_similarity, current.machine.isa);
    auto order = [&](const Relative& relative) {
        return std::make_tuple(-relative.similarity, !relative.origin.empty(),
                               std::abs(relative.cores - current.machine.cores));
    };
    std::stable_sort(near.begin(), near.end(),
                     [&](const Relative& a, const Relative& b) { return order(a) < order(b); });
    for (const Relative& relative : near) {
        if (records_.size() + relatives_.size() >= most_runs) break;
        auto is_it = [&](const RunRecord& record) { return record.run == relative.run; };
        const bool known = std::any_of(records_.begin(), records_.end(), is_it) ||
                           std::any_of(relatives_.begin(), relatives_.end(), is_it);
        if (known || relative.run == current.run) continue;
        std::optional<RunRecord> record = source_.load_named(relative.run);
        if (record && record->settings.device == current.settings.device) relatives_.push_back(std::move(*record));
    }
}

Experience EarlierRuns::experience() {
    if (std::optional<std::string> known = store_.find_document(run_, experience_key))
        return experience_from(Json::parse(*known));
    Experience experience = found_experience();
    store_.add_document(run_, experience_key, dump(to_json(experience, true)));
    return experience;
}

// A strategy lost when it was pruned in every run that tried it, one that was measured here among them.
Experience EarlierRuns::found_experience() const {
    Experience experience;
    std::set<std::string> good, lost;
    for (const RunRecord& record : relatives_) {
        for (const Regime& regime : record.regimes) {
            if (experience.winners.size() < most_winners)
                experience.winners.push_back(
                    {record.problem, planned_strategy(regime.strategy), regime.configuration, !record.origin.empty()});
            good.insert(planned_strategy(regime.strategy));
        }
        for (const Strategy& strategy : record.strategies)
            if (strategy.state != Strategy::State::pruned) good.insert(planned_strategy(strategy.id));
            else if (record.origin.empty()) lost.insert(planned_strategy(strategy.id));
    }
    for (const std::string& strategy : lost)
        if (!good.count(strategy)) experience.losers.push_back(strategy);
    return experience;
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
                winner.strategy.parent.clear();  // it may not take part in this run
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
    for (const auto* records : {&records_, &relatives_})
        for (const RunRecord& record : *records) {
            std::vector<HistoryEntry> own;
            std::copy_if(record.history.begin(), record.history.end(), std::back_inserter(own),
                         [&](const HistoryEntry& entry) { return entry.kernel == kernel; });
            const std::map<std::string, double> least = least_times(own);
            tune::EarlierRun run;
            for (const HistoryEntry& entry : own) {
                run.configurations.push_back(entry.configuration);
                run.costs.push_back(cost_of(entry, least));
            }
            if (run.costs.size() >= least_measurements) runs.push_back(std::move(run));
        }
    return runs;
}

Beginning beginning_of(const Experience& experience, const std::vector<Proposal>& planned) {
    Beginning beginning;
    std::vector<std::string> problems, says;
    for (const Experience::Winner& winner : experience.winners)
        for (const Proposal& proposal : planned) {
            if (proposal.strategy.id != winner.strategy) continue;
            std::optional<Configuration> configuration = fitted(proposal.kernel, winner.configuration);
            if (!configuration) continue;
            beginning.proven.push_back(proposal);
            beginning.proven.back().proven = true;
            beginning.proven.back().kernel.initial = *configuration;
            beginning.ranks[winner.strategy] = -1;
            const std::string problem = winner.problem + (winner.imported ? " (imported)" : "");
            if (std::find(problems.begin(), problems.end(), problem) == problems.end()) problems.push_back(problem);
        }
    if (size_t count = beginning.proven.size())
        says.push_back(fmt::format("began with {} of {}", counted(count, "winner"), join(problems, ", ")));
    size_t last = 0;
    for (const Proposal& proposal : planned) {
        const auto& losers = experience.losers;
        if (std::find(losers.begin(), losers.end(), proposal.strategy.id) == losers.end()) continue;
        beginning.ranks[proposal.strategy.id] = 1;
        ++last;
    }
    if (last > 0)
        says.push_back(fmt::format("{} strateg{} that lost in runs of relatives come{} last", last,
                                   last == 1 ? "y" : "ies", last == 1 ? "s" : ""));
    beginning.says = join(says, "; ");
    return beginning;
}

}  // namespace strop
