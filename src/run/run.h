// One optimization, from problem to report: wiring, budget, events, stop and resume.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/record.h"
#include "judge/worker_command.h"
#include "knowledge/store.h"
#include "run/waiting_workers.h"

namespace strop {

// Where progress goes; the terminal implements it.
class View {
public:
    virtual ~View() = default;
    virtual void phase(const std::string& what) = 0;      // "measuring the baselines"
    virtual void baselines(const RunRecord& record) = 0;  // record.shapes hold their times
    virtual void strategies(const std::vector<Strategy>& strategies) = 0;
    virtual void evaluation(const HistoryEntry& entry, const RunRecord& record, double seconds_left) = 0;
    virtual void note(const std::string& text) = 0;  // a lasting line
};

struct RunOptions {
    std::string problem;  // as given: a folder, a file, a name
    RunSettings settings;
    std::string strop_version;
    judge::Workers workers;  // elsewhere the result is not called from Python
    // A recording that stands in for models and machine; its settings are taken, but `out`.
    std::optional<std::filesystem::path> replay = std::nullopt;
    bool knowledge = true;  // false: nothing of earlier runs is used
    // Of the search's time; less than 1: then the run waits, as if it was interrupted, for resume() to go on with it.
    double search_share = 1;
    WaitingWorkers* waiting = nullptr;  // where its workers stay while it waits; null: they end
};

// Returns the finished record (outcome improved or no_improvement), saved in the store and in the result folder.
// Interrupted: thrown after the state is saved. Errors of the input before anything is saved are UsageErrors.
RunRecord optimize(const RunOptions& options, Store& store, View& view);

// Of a run that goes on.
struct More {
    double budget_seconds = 0;                  // when positive: in place of what is left
    double search_share = 1;                    // as in RunOptions
    std::optional<double> search_seconds = {};  // for the search from now on; what comes after it is not touched
    WaitingWorkers* waiting = nullptr;          // as in RunOptions
};

// Goes on with a run that was stopped; a finished one is returned as it is.
RunRecord resume(const std::string& run, const More& more, const judge::Workers& workers, Store& store, View& view);

}  // namespace strop
