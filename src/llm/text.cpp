#include "llm/text.h"

#include <nlohmann/json.hpp>

#include "base/strings.h"

namespace strop::llm {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string valid_utf8(std::string_view text) {
    using nlohmann::json;
    std::string quoted = json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

std::string one_line(std::string_view text, size_t most) {
    std::string line = valid_utf8(trim(text));
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    if (line.size() <= most) return line;
    size_t end = most > 3 ? most - 3 : 0;
    while (end > 0 && is_continuation(line[end])) --end;
    return line.substr(0, end) + "...";
}

}  // namespace strop::llm
