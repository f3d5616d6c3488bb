#include "run/roofline.h"

#include <algorithm>

#include "core/least_time.h"
#include "graph/work.h"

namespace strop {

Roofline roofline(const Problem& problem, const Graph& graph, const Machine& machine, const Dimensions& dims) {
    Work work = stated_work(problem, dims);
    if (!problem.flops) work.flops = count_flops(graph, bindings_of(problem, dims));
    const LeastTime least = least_time(machine, work);
    Roofline result;
    result.bytes = work.bytes();
    result.flops = work.flops;
    if (least.nanoseconds() <= 0) return result;
    result.bound = least.compute_ns > least.traffic_ns ? "compute" : least.traffic_from_cache ? "cache" : "memory";
    result.traffic_ns = least.traffic_ns;
    result.compute_ns = least.compute_ns;
    result.traffic_from_cache = least.traffic_from_cache;
    result.nanoseconds = least.nanoseconds();
    return result;
}

Roofline seen_beside(Roofline roofline, double nanoseconds) {
    if (!(nanoseconds > 0) || roofline.nanoseconds <= roofline_exceeded * nanoseconds) return roofline;
    roofline.beaten = true;
    roofline.nanoseconds = roofline.traffic_ns = roofline.compute_ns = 0;
    roofline.bound.clear();
    return roofline;
}

void note_roofline(const Roofline& roofline, ShapeReport& shape) {
    shape.roofline_ns = roofline.nanoseconds;
    shape.bound = roofline.bound;
    shape.bytes = roofline.bytes;
    shape.flops = roofline.flops;
}

bool beaten_by_baselines(const std::vector<ShapeReport>& shapes) {
    for (const ShapeReport& shape : shapes)
        for (const auto& [name, nanoseconds] : shape.baselines)
            if (nanoseconds > 0 && shape.roofline_ns > roofline_exceeded * nanoseconds) return true;
    return false;
}

}  // namespace strop
