// The least time that the machine's measured ceilings allow for a problem at a shape.
#pragma once

#include <string>
#include <vector>

#include "core/machine.h"
#include "core/problem.h"
#include "core/record.h"
#include "graph/graph.h"

namespace strop {

struct Roofline {
    double nanoseconds = 0;  // 0: nothing was measured
    std::string bound;       // "memory", "cache" or "compute"
    double bytes = 0, flops = 0;
    double traffic_ns = 0, compute_ns = 0;  // each alone
    bool traffic_from_cache = false;        // everything fits in a cache
    bool beaten = false;                    // a kernel needed clearly less: no time follows from what was counted
};

// Compulsory traffic: every input read once, every output written once; or the problem's own `work`.
Roofline roofline(const Problem& problem, const Graph& graph, const Machine& machine, const Dimensions& dims);
// What is left of it when a kernel took that long: without its times where that beats it.
Roofline seen_beside(Roofline roofline, double nanoseconds);
void note_roofline(const Roofline& roofline, ShapeReport& shape);

// A baseline is faster at some shape than its roofline: the machine was slower when its ceilings were measured.
bool beaten_by_baselines(const std::vector<ShapeReport>& shapes);

}  // namespace strop
