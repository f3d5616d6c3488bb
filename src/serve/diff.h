// Two texts, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strop::serve {

struct DiffLine {
    enum class Kind { same, removed, added };
    Kind kind = Kind::same;
    std::string text;
    size_t before = 0, after = 0;  // line numbers from 1; 0: not in that text
};

std::vector<DiffLine> diff(std::string_view before, std::string_view after);
// Parts of a diff that hold its changes, each with up to `context` equal lines around; nothing where all is equal.
std::vector<std::vector<DiffLine>> hunks(const std::vector<DiffLine>& lines, size_t context);

}  // namespace strop::serve
