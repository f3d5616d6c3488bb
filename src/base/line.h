// Texts of others where one line is promised.
#pragma once

#include <string>
#include <string_view>

namespace strop {

// On one line that a terminal prints as it is: line ends and tabs become spaces, other control characters '?'.
std::string one_line(std::string_view text);

}  // namespace strop
