// Whether a result still does what its report says: judged again, and compared with the ratios of the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "core/record.h"
#include "report/change.h"
#include "run/judgement.h"

namespace strop {

// What a result is held to.
struct Promise {
    RunRecord report;              // the ratios of then, and their machine
    std::optional<Kernel> kernel;  // the function of then, where it is known
};

struct PromiseOptions {
    Seconds seconds_per_shape{0.5};  // for the comparison with the baselines
    double tolerance = 0.05;         // a shape counts as slower when the whole interval of its change is below this
    uint64_t seed = 0;               // of the shapes that nobody listed
};

struct PromiseCheck {
    Judgement judgement;
    // Of the report's shapes over their baselines; then, where the function is another than that of then, in turns with
    // that. Empty when the kernel is wrong.
    std::vector<report::Change> changes;
    std::vector<ShapeReport> now;    // the same shapes as they are measured now
    std::vector<std::string> notes;  // of ratios that are lower and do not count, one phrase each
    bool same_machine = true;        // else nothing is held to ratios
    bool kept = false;               // right, and slower at no shape; every ratio could be looked at
};

// A function of the result as it was compiled: `source` with the flags and the compiler of the report's
// winners.
Kernel promised_kernel(const RunRecord& report, const std::string& source);

// `problem`: with the report's shapes only. A shape that seems slower is measured a second time and counts when it is
// so again.
PromiseCheck check_promise(judge::WorkerClient& worker, const Problem& problem, const Promise& promise,
                           const Kernel& kernel, const PromiseOptions& options);

}  // namespace strop
