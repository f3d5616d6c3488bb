// What others have written, among lines of ours.
#pragma once

#include <string>
#include <string_view>

namespace strop {

// printable(), as lines that no line of ours begins like: "  | error: ...".
std::string cited(std::string_view text);

}  // namespace strop
