// A graph seen as pooling: a maximum, minimum or sum over windows of up to three neighbouring axes of one
// value, with pointwise operations before and after.
//
// Windows come as slices of sliding windows, of padded values or not, or as axes that a reshape splits.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"
#include "playbook/pointwise_part.h"

namespace strop::playbook {

// Element `t` of window `i` lies at i * stride + t * dilation - before.
struct WindowAxis {
    Expression extent, out;  // elements of the source, windows
    Expression taps = 1, stride = 1, dilation = 1, before = 0;
    bool padded = false;  // windows may reach over the ends
};

struct WindowForm {
    std::string lacks;  // non-empty: why this graph is no pooling
    Problem problem;    // with names that collide with nothing in a kernel
    Graph graph;
    std::string op;       // max, min, sum
    double padding = 0;   // the value beyond the ends
    bool neutral = true;  // padding changes no window that holds something else

    int reduction = 0;     // node; its value before what follows
    PointwisePart before;  // the value that windows are taken of; axes: outer, the windows', inner
    PointwisePart after;   // the output, over `reduction`; the same axes
    std::vector<Expression> outer;
    std::vector<WindowAxis> axes;  // 1 to 3; the last one runs along memory but for `inner`
    Expression inner = 1;          // elements behind the last windowed axis
    std::string y;
};

WindowForm window_form(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
