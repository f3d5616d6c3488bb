// The dispatching function at shapes that nothing saw before: right at each, and its choice among the best.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/record.h"
#include "run/recorder.h"
#include "search/dispatch.h"

namespace strop {

inline constexpr int64_t probe_bytes = int64_t{48} << 20;  // of tensors, at most, of shapes that nobody listed

struct HeldOut {
    DispatchCheck check;
    std::string failure;  // the last one, or nothing
};

// A few shapes at a time, some in any case, until it is over or all have been looked at. `kernel`: the dispatching
// function.
HeldOut check_held_out(const Problem& problem, const search::DispatchPlan& dispatch, const Kernel& kernel,
                       uint64_t seed, Recorder& recorder, const std::function<bool()>& is_over);

}  // namespace strop
