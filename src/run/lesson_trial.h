// Whether what a document says holds on this machine: a lesson's strategy or value beside the playbook's own choice.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "core/evaluator.h"
#include "knowledge/store.h"
#include "run/catalogue.h"

namespace strop {

// Who meets whom: the first is what the lesson is about. Fewer than two: `why_not`.
struct TrialPlan {
    std::vector<Contender> contenders;
    std::vector<ShapePoint> points;
    std::string why_not;
};
// A tunable's value beside the playbook's guess; where that is the value, beside its other values. A whole strategy
// beside other strategies that may be called wherever it may. Everything else is the playbook's guess; at most four
// contenders.
TrialPlan plan_trial(const Lesson& lesson, const Testable& testable, const std::string& isa);

struct Trial {
    Testimony::Kind kind = Testimony::Kind::undecided;
    std::string note;  // "1.08 (1.05–1.11) times as fast as UNROLL=4 on softmax"
};
// Over all points. Clear is 3 % and an interval on one side of 1: to prefer something is confirmed where it beats all
// others and contradicted where one beats it; to avoid something the other way round.
Trial judge_trial(const Lesson& lesson, const TrialPlan& plan, const Comparison& comparison,
                  const std::string& problem);

// Plans, measures, judges. `evaluator` has the problem open.
Trial try_lesson(const Lesson& lesson, const Testable& testable, const std::string& isa, Evaluator& evaluator,
                 Seconds per_shape);

// The name under which a trial is a lesson's testimony: a later one on the same problem and machine replaces it.
std::string trial_run(const std::string& problem, const std::string& fingerprint);

}  // namespace strop
