#include "run/roofline.h"

#include <algorithm>

#include "graph/work.h"

namespace strop {

namespace {

double tensor_bytes(const Problem& problem, const std::vector<Tensor>& tensors, const Dimensions& dims) {
    double bytes = 0;
    for (const Tensor& tensor : tensors) bytes += static_cast<double>(bytes_of(problem, tensor, dims));
    return bytes;
}

// Copied bytes move at the copy's rate, what is left over at the rate of reading.
double memory_seconds(const Ceilings& ceilings, double read, double written) {
    double copied = 2 * std::min(read, written);
    double rest = read + written - copied;
    double rest_rate = read > written ? ceilings.memory_read : ceilings.memory_copy;
    return copied / ceilings.memory_copy + rest / rest_rate;
}

}  // namespace

Roofline roofline(const Problem& problem, const Graph& graph, const Machine& machine,
                  const Dimensions& dims) {
    Roofline result;
    Bindings bindings = bindings_of(problem, dims);
    double read = tensor_bytes(problem, problem.inputs, dims), written = tensor_bytes(problem, problem.outputs, dims);
    result.bytes = read + written;
    if (problem.bytes) {
        double stated = to_double(problem.bytes->evaluate(bindings));
        read *= stated / std::max(1.0, result.bytes);
        written *= stated / std::max(1.0, result.bytes);
        result.bytes = stated;
    }
    result.flops = problem.flops ? to_double(problem.flops->evaluate(bindings)) : count_flops(graph, bindings);
    const Ceilings& ceilings = machine.ceilings;
    if (ceilings.memory_copy <= 0 || ceilings.memory_read <= 0 || ceilings.fma_flops_all_cores <= 0) return result;

    double traffic = 0;
    result.bound = "memory";
    for (const CacheLevel& cache : machine.caches) {
        double whole = static_cast<double>(cache.bytes) * std::max(1, machine.cores / std::max(1, cache.shared_by));
        if (result.bytes > whole || cache.read_bytes_per_second <= 0) continue;
        traffic = result.bytes / cache.read_bytes_per_second;
        result.bound = "cache";
        result.traffic_from_cache = true;
        break;
    }
    if (result.bound == "memory") traffic = memory_seconds(ceilings, read, written);
    double compute = result.flops / ceilings.fma_flops_all_cores;
    if (compute > traffic) result.bound = "compute";
    result.traffic_ns = 1e9 * traffic;
    result.compute_ns = 1e9 * compute;
    result.nanoseconds = std::max(result.traffic_ns, result.compute_ns);
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
