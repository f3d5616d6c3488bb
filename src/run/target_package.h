// One result for several targets, made of the runs of each: judged as it will choose, and written.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "judge/worker_command.h"
#include "knowledge/store.h"
#include "report/targets.h"
#include "run/target_part.h"

namespace strop {

struct TargetRun {
    RunRecord record;
    TargetPart part;
    judge::Workers workers;
};

class TargetPackage {
public:
    // `runs`: in the order in which they were made.
    TargetPackage(const Problem& problem, std::vector<TargetRun> runs);

    // The whole function on that target's worker, forced to its target: on the sweep with fresh inputs, beside the
    // target's result alone, and at held-out shapes. Kept in the store, so that it is not measured again. Throws what
    // workers throw, and what `idle` does.
    report::ChoiceCheck judge(const TargetRun& run, Store& store, const std::function<void()>& idle) const;

    // All files of a result folder, and the reports of all targets side by side.
    void write(const std::filesystem::path& folder, const std::vector<report::TargetResult>& results) const;

    const std::vector<TargetRun>& runs() const { return runs_; }

private:
    report::ChoiceCheck measured(const TargetRun& run, const std::function<void()>& idle) const;
    Kernel kernel() const;

    const Problem& problem_;
    std::vector<TargetRun> runs_;
    Units units_;
};

}  // namespace strop
