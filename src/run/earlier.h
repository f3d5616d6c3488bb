// What earlier runs of the same problem found: their winners, and where the tuning of the same kernels begins.
#pragma once

#include <string>
#include <vector>

#include "core/proposer.h"
#include "core/record.h"
#include "knowledge/store.h"
#include "tune/prior.h"

namespace strop {

class EarlierRuns {
public:
    // The newest few runs of the problem on this machine, but `current`.
    EarlierRuns(Store& store, const RunRecord& current);

    // The kernels that they chose, newest run first and none twice, each with its author and the configuration that won, to
    // be judged again. Kept with the run, like the next.
    std::vector<Proposal> winners();

    // Of a kernel with that id; one entry a run that tried it. Kept with the run, so that a resumed one begins where it
    // began.
    std::vector<tune::EarlierRun> of(const std::string& kernel);

private:
    std::vector<Proposal> found_winners() const;
    std::vector<tune::EarlierRun> measured(const std::string& kernel) const;

    Store& store_;
    std::string run_;
    std::vector<RunRecord> records_;
};

}  // namespace strop
