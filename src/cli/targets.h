// strop optimize --for: one result for several instruction sets, a run each, one after another.
#pragma once

#include <string>
#include <vector>

#include "cli/batch.h"
#include "cli/flags.h"

namespace strop::cli {

// As `--for` names them: "cpu-avx2,cpu-avx512@gpu1".
struct AskedTarget {
    std::string name;    // device/target.h
    std::string worker;  // in workers.yaml, that judges for it alone; empty: as for all
};
// Empty without the flag. UsageErrors for unknown targets and those that are named twice.
std::vector<AskedTarget> asked_targets(const Arguments& arguments);

// Sets what a run for one target differs in. `several`: its result is a part of theirs.
void aim(RunOptions& options, const AskedTarget& target, bool several);

// The runs, each with what those before it found, then the result for all. With --continue the runs that the same
// command left are gone on with. 0: each improved, and the whole is right with each; 1: not all.
int optimize_for(const std::vector<AskedTarget>& targets, const Arguments& arguments, const OptionsOf& options_of);

}  // namespace strop::cli
