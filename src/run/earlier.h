// What earlier runs of the same problem and of its relatives found: their winners, where the tuning of the same kernels
// begins, and which strategies won or lost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/proposer.h"
#include "core/record.h"
#include "core/signature.h"
#include "knowledge/store.h"
#include "tune/prior.h"

namespace strop {

inline constexpr double least_similarity = 0.5;  // of relatives' signatures

// Of relatives: other problems that compute alike, or this one on another machine, for another target or as it was
// before.
struct Experience {
    struct Winner {
        std::string problem, strategy;
        Configuration configuration;
        bool imported = false;  // it was measured elsewhere
    };
    std::vector<Winner> winners;      // of the nearest relative first
    std::vector<std::string> losers;  // strategies that lost in every run that tried them
};

class EarlierRuns {
public:
    // The newest few runs of the problem on this machine, but `current`; its finished runs for other targets; finished
    // runs of relatives with the same instruction set, the most similar first. What was measured here goes before what
    // was imported. `allowed` false: nothing is looked for, now and when the run is resumed. They are looked for in
    // `source`, where there is one, and kept in `store`.
    EarlierRuns(Store& store, const RunRecord& current, const Signature& signature = {}, bool allowed = true,
                Store* source = nullptr);

    // The kernels that they chose, newest run first and none twice, each with its author and the configuration that
    // won, to be judged again. Kept with the run, like the next.
    std::vector<Proposal> winners();

    // Of a kernel with that id; one entry a run that tried it. Kept with the run, so that a resumed one begins where it
    // began.
    std::vector<tune::EarlierRun> of(const std::string& kernel);

    Experience experience();  // kept with the run too
    bool allowed() const { return allowed_; }

private:
    void find_runs(const RunRecord& current);
    void find_relatives(const RunRecord& current, const Signature& signature);
    Experience found_experience() const;
    std::vector<Proposal> found_winners() const;
    std::vector<tune::EarlierRun> measured(const std::string& kernel) const;

    Store& store_;
    Store& source_;
    std::string run_;
    bool allowed_;
    std::vector<RunRecord> records_, relatives_;
};

// What is used of it: winners of relatives are the playbook's kernels with the configurations that won there.
struct Beginning {
    std::vector<Proposal> proven;
    std::map<std::string, int> ranks;  // of strategies: winners come first, losers last
    std::string says;                  // "began with 2 winners of logsumexp; 4 strategies that lost there come last"
};
Beginning beginning_of(const Experience& experience, const std::vector<Proposal>& planned);

}  // namespace strop
