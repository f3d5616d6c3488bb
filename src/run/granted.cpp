#include "run/granted.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace strop {

namespace {

// Of one dimension alone, at both ends of its range.
bool is_promised(const Expression& condition, const Problem& problem) {
    const std::set<std::string> names = condition.symbols();
    const auto range = names.size() == 1 ? problem.range.find(*names.begin()) : problem.range.end();
    if (range == problem.range.end()) return false;
    const auto holds = [&](int64_t extent) {
        return truthy(condition.evaluate(bindings_of(problem, {{range->first, extent}})));
    };
    return holds(range->second.low) && holds(range->second.high);
}

}  // namespace

std::string take_for_granted(const std::vector<Expression>& conditions, Problem& problem) {
    std::vector<std::string> added;
    for (const Expression& condition : conditions) {
        if (is_promised(condition, problem)) continue;
        problem.require.push_back(condition);
        added.push_back(condition.text());
    }
    if (added.empty()) return "";
    return fmt::format(
        "for shapes where {}: at others the reference's slices are cut off (with such a shape in the problem kernels "
        "are written for those, too)",
        join(added, " and "));
}

}  // namespace strop
