// Text that came from elsewhere, made fit for JSON, logs and terminals.
#pragma once

#include <string>
#include <string_view>

namespace strop::llm {

// Each malformed UTF-8 sequence becomes U+FFFD.
std::string valid_utf8(std::string_view text);

// On one line, valid UTF-8, without control characters, at most `most` bytes ("..." where it was cut).
std::string one_line(std::string_view text, size_t most);

}  // namespace strop::llm
