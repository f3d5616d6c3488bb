// What a tuning run measured, as a measured space that tuners exchange.
#pragma once

#include "core/record.h"
#include "tune/measured_space.h"

namespace strop {

// Of the kernel with that id. The time of a configuration is the geometric mean over the run's shapes, in
// milliseconds; each shape's own is a metric, "time_LABEL". With what compiling, checking and timing it took.
tune::MeasuredSpace measured_space(const RunRecord& record, const Kernel& kernel);

}  // namespace strop
