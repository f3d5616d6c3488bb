// Whether a result still does what its report says: judged again, and compared with the ratios of the report.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "core/record.h"
#include "report/change.h"
#include "run/judgement.h"

namespace strop {

struct PromiseOptions {
    Seconds seconds_per_shape{0.5};  // for the comparison with the baselines
    double tolerance = 0.05;         // a shape counts as slower when the whole interval of its change is below this
    uint64_t seed = 0;               // of the shapes that nobody listed
};

struct PromiseCheck {
    Judgement judgement;
    std::vector<report::Change> changes;  // of the report's shapes; empty when the kernel is wrong
    std::vector<ShapeReport> now;         // the same shapes as they are measured now
    bool same_machine = true;             // else nothing is held to ratios
    bool kept = false;                    // right, and slower at no shape; every ratio could be looked at
};

// The function of the result folder as it was compiled: `source` with the flags and the compiler of the report's
// winners.
Kernel promised_kernel(const RunRecord& report, const std::string& source);

// `problem`: with the report's shapes only. A shape that seems slower is measured a second time and counts when it is
// so again.
PromiseCheck check_promise(judge::WorkerClient& worker, const Problem& problem, const RunRecord& report,
                           const Kernel& kernel, const PromiseOptions& options);

}  // namespace strop
