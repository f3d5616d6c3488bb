// Aligned columns for a person, on a terminal or in a pipe.
#pragma once

#include <string>
#include <vector>

namespace strop::cli {

// The first row is the head. Columns are two blanks apart; nothing is padded at the end of a line.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace strop::cli
