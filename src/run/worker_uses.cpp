#include "run/worker_uses.h"

#include <algorithm>

namespace strop {

void note_workers(const judge::Workers& workers, RunSettings& settings) {
    const std::vector<std::string>& given = workers.given;
    settings.worker = given.empty() ? "" : given.front();
    settings.other_workers = given.empty() ? given : std::vector<std::string>(given.begin() + 1, given.end());
}

std::vector<WorkerUse> joined(std::vector<WorkerUse> before, const std::vector<WorkerUse>& now) {
    for (const WorkerUse& use : now) {
        auto known = std::find_if(before.begin(), before.end(),
                                  [&](const WorkerUse& earlier) { return earlier.name == use.name; });
        if (known == before.end()) {
            before.push_back(use);
            continue;
        }
        known->batches += use.batches;
        known->evaluations += use.evaluations;
        known->losses += use.losses;
        known->dropped = use.dropped;
    }
    return before;
}

}  // namespace strop
