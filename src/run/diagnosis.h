// What limits a kernel at a shape, of four: memory, compute, parallelism, algorithm; from what was measured of it and
// from the machine's ceilings.
#pragma once

#include "core/machine.h"
#include "core/profile.h"
#include "run/roofline.h"

namespace strop {

// A ceiling that is nearly reached is the limit. Else where mending would gain the largest factor: threads that wait or
// are not used; time outside of innermost loops; loops that the processor cannot run fast; at last the nearer ceiling.
Diagnosis diagnose(const PointProfile& profile, const Roofline& roofline, const Machine& machine);

}  // namespace strop
