// Texts of others where one line is promised.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strop {

// On one line that a terminal prints as it is: line ends and tabs become spaces, other control characters '?'.
std::string one_line(std::string_view text);
// The same, its first `most` bytes where it is longer, and "..." then. No character is cut.
std::string shortened(std::string_view text, size_t most);

}  // namespace strop
