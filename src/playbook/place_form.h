// A graph seen as a search along one axis: the place of the extremum of a value, and perhaps the extremum
// itself.
#pragma once

#include <string>

#include "core/problem.h"
#include "playbook/axis_nest.h"

namespace strop::playbook {

struct PlaceForm {
    std::string lacks;  // non-empty: why this graph is no such search
    Problem problem;    // with names that collide with nothing in a kernel
    Graph graph;
    AxisNest nest;
    Expression depth;             // of the nest, over the problem's own names
    PointwisePart value;          // what is searched
    bool largest = true;          // argmax, else argmin
    std::string place, extremum;  // outputs; the second may be empty
};

PlaceForm place_form(const Problem& problem, const Graph& graph);

}  // namespace strop::playbook
