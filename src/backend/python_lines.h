// Long lines of Python in several.
#pragma once

#include <string>
#include <vector>

namespace strop::backend {

// Arguments of calls that end long lines get lines of their own.
std::string wrapped(const std::string& text);

// `begin`, the arguments and `end`; filled lines where that is long.
std::string in_lines(const std::string& begin, const std::vector<std::string>& arguments, const std::string& end,
                     int depth = 0);

}  // namespace strop::backend
