#include "run/held_out.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/interrupt.h"
#include "language/bundle.h"
#include "run/verification.h"

namespace strop {

namespace {

constexpr int most_shapes = 40;
constexpr size_t shapes_at_a_time = 4, least_shapes = 8;
constexpr double seconds_to_choose = 0.08, seconds_to_check = 0.01;  // at a shape

std::vector<ShapePoint> shapes_nobody_saw(const Problem& problem, const search::DispatchPlan& dispatch, uint64_t seed) {
    std::vector<ShapePoint> seen = problem.points;
    for (const search::DispatchSample& sample : dispatch.samples) seen.push_back({"", sample.dims});
    return search::held_out_shapes(problem, most_shapes, probe_bytes, mix64(seed + 5), seen);
}

// With each winner beside it, where there is more than one to choose from.
ComparisonRequest request_of(const search::DispatchPlan& dispatch, const Kernel& kernel) {
    ComparisonRequest request;
    request.effort = Effort::full;
    request.contenders.push_back({"dispatch", "", kernel, kernel.initial});
    const bool chooses = dispatch.winners.size() > 1;
    for (size_t i = 0; chooses && i < dispatch.winners.size(); ++i)
        request.contenders.push_back(
            {fmt::format("winner {}", i), "", dispatch.winners[i].kernel, dispatch.winners[i].configuration});
    request.seconds_per_point = chooses ? seconds_to_choose : seconds_to_check;
    return request;
}

}  // namespace

HeldOut check_held_out(const Problem& problem, const search::DispatchPlan& dispatch, const Kernel& kernel,
                       uint64_t seed, Recorder& recorder, const std::function<bool()>& is_over) {
    HeldOut found;
    const std::vector<ShapePoint> shapes = shapes_nobody_saw(problem, dispatch, seed);
    ComparisonRequest request = request_of(dispatch, kernel);
    auto choice_at = [&](const Dimensions& dims) { return pick(dispatch.tree, dispatch.winners, problem, dims); };
    for (size_t begin = 0; begin < shapes.size(); begin += shapes_at_a_time) {
        check_interrupt();
        if (begin >= least_shapes && is_over()) break;
        const size_t end = std::min(shapes.size(), begin + shapes_at_a_time);
        request.points.assign(shapes.begin() + static_cast<long>(begin), shapes.begin() + static_cast<long>(end));
        const std::string failure = note_held_out(recorder.compare(request), choice_at, found.check);
        if (!failure.empty()) found.failure = failure;
    }
    return found;
}

}  // namespace strop
