// Whether others want the cores that kernels are timed on.
#pragma once

#include "base/clock.h"

namespace strop::judge {

// Busy threads of our own, one on each core of the calling process, for some milliseconds: true where one of them had
// to wait for its core. Nothing that is judged may run meanwhile, so none of it has a say.
bool neighbours_are_loud();

// Whether a comparison waits for quiet moments and goes on longer after loud ones. STROP_PATIENCE=none: it does not.
bool has_patience();

// Sleeps until a moment is quiet, so long at most. What it took.
Seconds wait_for_quiet(Seconds limit);

}  // namespace strop::judge
