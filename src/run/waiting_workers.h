// The workers of runs that wait for their share of a batch's budget: what their references have computed is still there
// when they go on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "judge/worker_pool.h"

namespace strop {

class WaitingWorkers {
public:
    WaitingWorkers();

    // Where memory is scarce they end, and whoever goes on starts others.
    void keep(const std::string& run, std::unique_ptr<judge::WorkerPool> workers);
    // Null where none are kept.
    std::unique_ptr<judge::WorkerPool> take(const std::string& run);
    bool has(const std::string& run) const { return kept_.contains(run); }

private:
    std::optional<double> available_bytes_;  // before any waited
    std::map<std::string, std::unique_ptr<judge::WorkerPool>> kept_;
};

}  // namespace strop
