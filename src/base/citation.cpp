#include "base/citation.h"

#include "base/strings.h"

namespace strop {

std::string cited(std::string_view text) { return "  | " + replace_all(printable(trim(text)), "\n", "\n  | "); }

}  // namespace strop
