// A tunable space with what was measured of it: the record of a tuning run, ours or another tool's. Plain
// data.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace strop::tune {

struct Measured {
    enum class Failure { none, compile, runtime, correctness, timeout, constraints, other };

    Configuration configuration;
    Failure failure = Failure::none;
    double value = 0;                       // of the objective; meaningless after a failure
    std::vector<double> runs;               // raw times in milliseconds; may be empty
    std::map<std::string, double> phases;   // milliseconds: compilation, validation, benchmark, search, framework
    std::map<std::string, double> metrics;  // whatever else was measured: "GFLOP/s"
    std::string timestamp;                  // ISO 8601; may be empty
    std::string key;                        // in its file; empty where the format has none
};

struct MeasuredSpace {
    std::string kernel, device;
    std::vector<int64_t> problem_size;  // may be empty
    std::string objective = "time";     // milliseconds when it is a time
    bool higher_is_better = false;
    TunableSpace space;              // constraints are empty where they are unknown
    std::set<std::string> booleans;  // tunables that are false or true in files and 0 or 1 here
    std::vector<Measured> entries;   // distinct configurations, in the order of the file
};

// What a searcher minimises; infinity for a failure.
double cost_of(const MeasuredSpace& space, const Measured& entry);

}  // namespace strop::tune
