// The least time that a machine's measured ceilings allow for so much traffic and arithmetic.
#pragma once

#include "core/machine.h"
#include "core/problem.h"

namespace strop {

struct Work {
    double read = 0, written = 0;  // bytes that have to move
    double flops = 0;
    double width = 1;  // of the numbers, in those of float32: of float64 a register holds half as many
    double bytes() const { return read + written; }
};

// Compulsory traffic: every input read once, every output written once; or the problem's own `work`. Arithmetic only
// where the problem states it.
Work stated_work(const Problem& problem, const Dimensions& dims);

struct LeastTime {
    double traffic_ns = 0, compute_ns = 0;  // each alone; 0: nothing was measured
    bool traffic_from_cache = false;        // everything fits in a cache
    double nanoseconds() const { return traffic_ns > compute_ns ? traffic_ns : compute_ns; }
};

LeastTime least_time(const Machine& machine, const Work& work);

}  // namespace strop
