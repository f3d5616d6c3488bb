// The first look at what the user would use instead: frameworks, the reference itself, and kernels of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/record.h"
#include "judge/worker_pool.h"
#include "run/recorder.h"

namespace strop {

struct Baselines {
    std::vector<std::string> names;
    std::vector<Contender> contenders;      // the same, as they are compared
    std::vector<MissingBaseline> missing;   // not installed, or failed
    std::vector<ShapeReport> shapes;        // of the sweep, each with the baselines that ran there
    std::map<std::string, double> best_ns;  // by label
    double reference_seconds = 0;           // spent on starting them
};

// Starts those that are installed, which takes long the first time, and times all of them for a share of the budget.
Baselines measure_baselines(const Problem& problem, const std::vector<Contender>& own, Seconds budget,
                            judge::WorkerPool& worker, Recorder& recorder);

}  // namespace strop
