// A lesson and how it stands, for a terminal.
#pragma once

#include <string>

#include "knowledge/store.h"

namespace strop::cli {

// "on avx2, where memory limits it: ... [confirmed by 2 runs]"
std::string lesson_line(const KnownLesson& known);

}  // namespace strop::cli
