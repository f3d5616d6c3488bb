#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace strop {

void set_log_level(const char* level) {
    static auto logger = spdlog::stderr_color_st("strop");
    spdlog::set_default_logger(logger);
    spdlog::set_pattern("%H:%M:%S.%e %^%l%$ %v");
    spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace strop
