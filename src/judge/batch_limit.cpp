#include "judge/batch_limit.h"

#include <algorithm>

namespace strop::judge {

namespace {

// What the referee allows, in seconds.
constexpr double beside = 60;
constexpr double compilation = 60;
constexpr double screened_point = 60 + 120, judged_point = 60 + 360;  // its buffers, its checks, its samples
constexpr double started_point = 180;                                 // a framework's first call may compile
constexpr double references_of_a_point = 10;                          // in two precisions, of several inputs
constexpr double margin = 2;

double points_of(size_t count, Effort effort) {
    return static_cast<double>(count) * (effort == Effort::full ? judged_point : screened_point);
}

}  // namespace

Seconds batch_limit(const std::vector<EvaluationRequest>& requests, Seconds reference_limit) {
    double sum = 0;
    size_t points = 0;
    for (const EvaluationRequest& request : requests) {
        sum += compilation + points_of(request.points.size(), request.effort);
        points = std::max(points, request.points.size());
    }
    sum += static_cast<double>(points) * references_of_a_point * reference_limit.count();
    return Seconds(beside + margin * sum);
}

Seconds batch_limit(const ComparisonRequest& request, Seconds reference_limit) {
    const double points = static_cast<double>(request.points.size());
    const double contenders = static_cast<double>(request.contenders.size());
    const double sum = contenders * (compilation + points_of(request.points.size(), Effort::full)) +
                       contenders * points * started_point + 2 * points * request.seconds_per_point +
                       request.patience_seconds + points * references_of_a_point * reference_limit.count();
    return Seconds(beside + margin * sum);
}

}  // namespace strop::judge
