#include "tune/replay.h"

#include <cmath>
#include <ctime>
#include <limits>

#include "base/error.h"

namespace strop::tune {

EarlierRun as_earlier_run(const MeasuredSpace& space) {
    EarlierRun run;
    for (const Measured& entry : space.entries) {
        run.configurations.push_back(entry.configuration);
        run.costs.push_back(cost_of(space, entry));
    }
    return run;
}

Space entries_of(const MeasuredSpace& measured) {
    std::vector<Configuration> valid;
    for (const Measured& entry : measured.entries) valid.push_back(entry.configuration);
    return Space(measured.space.tunables, valid);
}

Replay replay(const MeasuredSpace& measured, size_t evaluations, const SearchStart& start) {
    Space space = entries_of(measured);
    std::vector<const Measured*> entries(space.size());
    double lowest = std::numeric_limits<double>::infinity();
    Replay result;
    for (const Measured& entry : measured.entries) {
        entries[*space.find(entry.configuration)] = &entry;
        double cost = cost_of(measured, entry);
        if (!(cost < lowest)) continue;
        lowest = cost;
        result.optimum = entry.value;
    }
    if (!(lowest < std::numeric_limits<double>::infinity()))
        throw UsageError(measured.kernel + ": every configuration of the space failed", "nothing can be tuned");

    lowest = std::numeric_limits<double>::infinity();
    result.best = std::numeric_limits<double>::quiet_NaN();
    std::clock_t began = std::clock();
    std::unique_ptr<Searcher> searcher = make_searcher(space, start);
    while (result.trajectory.size() < evaluations) {
        std::vector<Configuration> next = searcher->propose(1);
        if (next.empty()) break;
        const Measured& entry = *entries[*space.find(next.front())];
        double cost = cost_of(measured, entry);
        searcher->tell(next.front(), cost);
        if (cost < lowest) {
            lowest = cost;
            result.best = entry.value;
            result.configuration = entry.configuration;
        }
        result.trajectory.push_back(result.best);
        result.measured.push_back(static_cast<size_t>(&entry - measured.entries.data()));
    }
    result.deciding_seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    return result;
}

}  // namespace strop::tune
