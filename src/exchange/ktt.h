// Results of KTT (Kernel Tuning Toolkit) in JSON.
#pragma once

#include <string>

#include "tune/measured_space.h"

namespace strop::exchange {

// Errors as in kernel_tuner.h. Durations are in `Metadata.TimeUnit`; values of tunables carry their own
// types.
tune::MeasuredSpace read_ktt(const std::string& text, const std::string& file);

}  // namespace strop::exchange
