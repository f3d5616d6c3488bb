// A search on a space that was measured before: "measuring" is a look-up.
#pragma once

#include "tune/measured_space.h"
#include "tune/searcher.h"

namespace strop::tune {

struct Replay {
    double optimum = 0;              // the best value of the objective in the space
    double best = 0;                 // the best that the search found; NaN: only failures
    Configuration configuration;     // its
    std::vector<double> trajectory;  // the best after each evaluation; NaN before the first success
    std::vector<size_t> measured;    // the space's entries that were looked up, in order
    double deciding_seconds = 0;     // of the processor, spent in the searcher
};

// At most `evaluations` distinct configurations; a failing one counts. The valid configurations are the
// space's entries. UsageError for a space of failures only.
Replay replay(const MeasuredSpace& space, size_t evaluations, const SearchStart& start);

// The space of exactly what was measured.
Space entries_of(const MeasuredSpace& measured);

// A measured space as an earlier run of another search.
EarlierRun as_earlier_run(const MeasuredSpace& space);

}  // namespace strop::tune
