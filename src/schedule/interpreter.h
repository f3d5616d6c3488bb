// Evaluates a schedule at given dimensions: the oracle of every writer. Slow and plain; who shares a position
// changes nothing here.
#pragma once

#include "graph/interpreter.h"
#include "schedule/schedule.h"

namespace strop::schedule {

// The problem's outputs, in order, in float64 whatever their type. `tunables`: a value for each that an
// expression reads. UsageError names what is missing, an index outside of its tensor, or an element that was
// read before it was written.
std::vector<Array> interpret(const Problem& problem, const Schedule& schedule, const Arguments& arguments,
                             const Configuration& tunables = {});

}  // namespace strop::schedule
