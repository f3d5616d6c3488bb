// Bytes as text that any channel leaves as it is (RFC 4648).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace strop {

std::string base64(std::string_view bytes);
// Nothing where it is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace strop
