#include "run/lesson_trial.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/line.h"
#include "knowledge/learning.h"
#include "stats/paired.h"
#include "tune/space.h"

namespace strop {

namespace {

constexpr size_t most_contenders = 4;

const Proposal* find_strategy(const Testable& testable, const std::string& id) {
    for (const Proposal& proposal : testable.strategies)
        if (proposal.strategy.id == id) return &proposal;
    return nullptr;
}

void add(TrialPlan& plan, const Kernel& kernel, const Configuration& configuration, const std::string& name) {
    if (plan.contenders.size() < most_contenders) plan.contenders.push_back({name, "", kernel, configuration});
}

void plan_values(const Lesson& lesson, const Kernel& kernel, TrialPlan& plan) {
    const tune::Space space(kernel.space);
    const Configuration& own = kernel.initial;
    Configuration wanted = own;
    for (const auto& [name, value] : lesson.values) wanted[name] = value;
    if (!space.find(wanted)) {
        plan.why_not = fmt::format("{} cannot have it beside the rest of its configuration", kernel.id);
        return;
    }
    add(plan, kernel, wanted, describe(lesson.values));
    if (wanted != own) {
        Configuration replaced;
        for (const auto& [name, value] : lesson.values) replaced[name] = own.at(name);
        return add(plan, kernel, own, describe(replaced));
    }
    for (const Tunable& tunable : kernel.space.tunables) {
        if (!lesson.values.count(tunable.name)) continue;
        for (const Value& value : tunable.values) {
            Configuration other = own;
            other[tunable.name] = value;
            if (other != wanted && space.find(other)) add(plan, kernel, other, describe({{tunable.name, value}}));
        }
    }
}

struct Standing {
    stats::Interval worst{1, 1, 1};  // of the first over whoever did best beside it
    std::string beside;
    bool faster_than_all = true, slower_than_one = false;
};

}  // namespace

TrialPlan plan_trial(const Lesson& lesson, const Testable& testable, const std::string& isa) {
    TrialPlan plan;
    const Proposal* proposal = find_strategy(testable, lesson.strategy);
    if (!lesson.when.hardware.empty() && lesson.when.hardware != isa)
        plan.why_not = fmt::format("it is about {}, and this machine has {}", lesson.when.hardware, isa);
    else if (!proposal) plan.why_not = fmt::format("{} has no strategy {}", testable.problem.name, lesson.strategy);
    if (!plan.why_not.empty()) return plan;
    auto may_be_called_at = [&](const Kernel& kernel, const ShapePoint& point) {
        return may_be_called(kernel, bindings_of(testable.problem, point.dims));
    };
    for (const ShapePoint& point : testable.problem.points)
        if (may_be_called_at(proposal->kernel, point)) plan.points.push_back(point);
    if (plan.points.empty()) {
        plan.why_not = fmt::format("it is for none of the shapes of {}", testable.problem.name);
        return plan;
    }
    if (!lesson.values.empty()) {
        plan_values(lesson, proposal->kernel, plan);
    } else {
        add(plan, proposal->kernel, proposal->kernel.initial, proposal->strategy.id);
        for (const Proposal& other : testable.strategies)
            if (&other != proposal && std::all_of(plan.points.begin(), plan.points.end(), [&](const ShapePoint& point) {
                    return may_be_called_at(other.kernel, point);
                }))
                add(plan, other.kernel, other.kernel.initial, other.strategy.id);
    }
    if (plan.why_not.empty() && plan.contenders.size() < 2) plan.why_not = "there is nothing to compare it with";
    return plan;
}

Trial judge_trial(const Lesson& lesson, const TrialPlan& plan, const Comparison& comparison,
                  const std::string& problem) {
    Standing standing;
    size_t compared = 0;
    for (size_t i = 1; i < plan.contenders.size(); ++i) {
        std::vector<stats::Interval> ratios;
        for (const PointComparison& point : comparison.points) {
            if (point.results.front().verdict != Verdict::ok)
                return {Testimony::Kind::undecided,
                        one_line(fmt::format("{} at {}: {}", name_of(point.results.front().verdict), point.point.label,
                                             point.results.front().evidence))};
            if (i < point.results.size() && point.results[i].verdict == Verdict::ok) {
                const Ratio& ratio = point.results[i].speedup;
                ratios.push_back({ratio.ratio, ratio.low, ratio.high});
            }
        }
        if (ratios.empty()) continue;
        const stats::Interval whole = stats::combine(ratios);
        standing.faster_than_all = standing.faster_than_all && whole.value >= near_the_best && whole.low > 1;
        standing.slower_than_one = standing.slower_than_one || (whole.value <= 1 / near_the_best && whole.high < 1);
        if (++compared == 1 || whole.value < standing.worst.value) {
            standing.worst = whole;
            standing.beside = plan.contenders[i].name;
        }
    }
    if (compared == 0) return {Testimony::Kind::undecided, "nothing ran beside it"};
    const bool prefer = lesson.advice == Lesson::Advice::prefer;
    const bool confirmed = prefer ? standing.faster_than_all : standing.slower_than_one;
    const bool contradicted = prefer ? standing.slower_than_one : standing.faster_than_all;
    const stats::Interval& worst = standing.worst;
    return {confirmed      ? Testimony::Kind::confirms
            : contradicted ? Testimony::Kind::contradicts
                           : Testimony::Kind::undecided,
            fmt::format("{:.2f} ({:.2f}–{:.2f}) times as fast as {} on {}", worst.value, worst.low, worst.high,
                        standing.beside, problem)};
}

Trial try_lesson(const Lesson& lesson, const Testable& testable, const std::string& isa, Evaluator& evaluator,
                 Seconds per_shape) {
    const TrialPlan plan = plan_trial(lesson, testable, isa);
    if (!plan.why_not.empty()) return {Testimony::Kind::undecided, plan.why_not};
    ComparisonRequest request;
    request.contenders = plan.contenders;
    request.points = plan.points;
    request.seconds_per_point = per_shape.count();
    return judge_trial(lesson, plan, evaluator.compare(request), testable.problem.name);
}

std::string trial_run(const std::string& problem, const std::string& fingerprint) {
    return fmt::format("trial-{}-{}", problem, fingerprint);
}

}  // namespace strop
