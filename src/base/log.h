// Diagnostics for developers and bug reports, on standard error; silent unless --verbose or STROP_LOG.
#pragma once

#include <spdlog/spdlog.h>

namespace strop {

// `level` is one of spdlog's names (trace, debug, info, warn, error, off).
void set_log_level(const char* level);

}  // namespace strop
