// What the last look at the dispatching function says: paired with the baselines on fresh inputs, and under sanitizers.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/evaluator.h"
#include "core/record.h"
#include "search/search.h"

namespace strop {

// One line for people: what the final function was tried on and compared with.
std::string what_was_verified(const RunRecord& record, const Problem& problem,
                              const std::vector<std::string>& baselines);

// Baselines that took ten times as long as the best one at every shape, in the first look at them: they need no more
// than a short one.
std::set<std::string> far_behind(const std::vector<ShapeReport>& shapes);
struct VerificationTime {
    double seconds = 0, patience_seconds = 0;  // patience: beside them, for loud moments
};
// The dispatching function, named first, with those that are near, until every case is decided or the time is over, and
// shortly with those that are far behind, if any.
Comparison compare_with_baselines(const Kernel& kernel, const std::vector<Contender>& baselines,
                                  const std::vector<ShapeReport>& shapes, const std::vector<ShapePoint>& points,
                                  const VerificationTime& time, Evaluator& evaluator);
// Of the first contender with some others, and with the rest of them, at the same points.
Comparison joined(Comparison near, const Comparison& far);
// The fastest of those after the first that ran; null where none did, and where one failed, which might have been it.
const ContenderResult* best_baseline(const PointComparison& point);
// Those that were there and failed, at which shape and how.
std::vector<MissingBaseline> lost_baselines(const Comparison& comparison);
// Of the first over the best baseline of each point, over all points; nothing where no baseline ran.
std::optional<Ratio> speedup_over_best(const Comparison& comparison);
// The comparison of the dispatching function, named first, with baselines; points in the order of the record's shapes,
// which get their times. `kernel_at`: who runs at a shape. The last failure, or nothing.
std::string note_verification(const Comparison& comparison,
                              const std::function<std::string(const Dimensions&)>& kernel_at, RunRecord& record);
// How the dispatching function, named first, did on held-out shapes beside its winners; `choice_at`: the winner that it
// takes. The last failure, or nothing.
std::string note_held_out(const Comparison& comparison, const std::function<int(const Dimensions&)>& choice_at,
                          DispatchCheck& check);
// Improved: verified, and faster alone and, where that was measured, called from Python beside a framework.
Outcome outcome_of(const RunRecord& record);
// The first finding, or nothing.
std::string finding_of(const std::vector<SanitizerRun>& runs);

// What the reasons of strategies say that win regimes in the end.
void mark_winners(RunRecord& record);

}  // namespace strop
