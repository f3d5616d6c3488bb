// A result as its users call it: from Python, in one process with a framework, in turns with an operation of that
// framework that has nothing to do with it and takes all cores.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/evaluation.h"

namespace strop {

struct InProcessPoint {
    std::string label;
    double nanoseconds = 0;                   // a call of the result, all that it costs in Python included
    std::map<std::string, double> baselines;  // the same of the framework's versions: "pytorch", "torch.compile"
    std::map<std::string, Ratio> speedups;    // over each of them
    std::string best_baseline;                // the fastest of them
    double neighbour = 0;                     // what the other operation takes beside ours, over beside the fastest
};

struct InProcess {
    std::string framework;  // "pytorch", "jax" or "numpy"; empty: not measured
    std::string missing;    // why not
    Ratio headline;         // geometric mean over the points, over the fastest version at each
    std::vector<InProcessPoint> points;
    bool measured() const { return !points.empty(); }
};

}  // namespace strop
