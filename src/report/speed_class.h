// How much a stored result leaves to gain, by its speedup and its share of the roofline. Pure.
#pragma once

#include <string>

#include "core/record.h"

namespace strop::report {

enum class SpeedClass { slow, moderate, good };  // the worst first
std::string name_of(SpeedClass value);

// Of a shape: good where no baseline is faster, or the kernel needs at most 1/threshold of the time of its roofline;
// slow where it has less than `threshold` of the best baseline's speed; moderate between. Where no baseline ran, the
// roofline alone decides between good and moderate. `threshold`: above 0, at most 1.
SpeedClass speed_class(const ShapeReport& shape, double threshold);

struct Standpoint {
    SpeedClass value = SpeedClass::moderate;  // that of the worst shape
    std::string shape;                        // the worst: of its class, the one with the smallest speedup
    Ratio speedup;                            // there
    std::string baseline;                     // there; empty: none ran
    double roofline_share = 0;                // geometric mean over shapes where the roofline is a bound; 0: nowhere
};
// Of a record with at least one shape.
Standpoint standpoint(const RunRecord& record, double threshold);

}  // namespace strop::report
