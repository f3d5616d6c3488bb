// A graph seen as a scan: running sums, products or extrema along one axis of a value, from its begin or from
// its end, with pointwise operations before and after.
#pragma once

#include <string>

#include "core/problem.h"
#include "playbook/axis_nest.h"

namespace strop::playbook {

struct ScanForm {
    std::string lacks;  // non-empty: why this graph is no scan
    Problem problem;    // with names that collide with nothing in a kernel
    Graph graph;
    AxisNest nest;
    Expression depth;        // of the nest, over the problem's own names
    std::string op;          // sum, prod, max, min
    bool backwards = false;  // from the end: a scan between two reversals
    PointwisePart before;    // what is scanned
    PointwisePart after;     // the output
    int scanned = 0;         // the node that `after` reads: the scan, or its reversal
    std::string y;
};

ScanForm scan_form(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
