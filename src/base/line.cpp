#include "base/line.h"

#include "base/strings.h"

namespace strop {

std::string one_line(std::string_view text) {
    std::string line;
    for (char c : printable(replace_all(std::string(trim(text)), "\r\n", "\n"))) {
        const bool blank = c == '\n' || c == '\t' || c == ' ';
        if (!blank) line += c;
        else if (!line.empty() && line.back() != ' ') line += ' ';
    }
    return line;
}

std::string shortened(std::string_view text, size_t most) {
    std::string line = one_line(text);
    if (line.size() <= most) return line;
    const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };  // in UTF-8
    while (most > 0 && goes_on(line[most])) --most;
    return line.substr(0, most) + "...";
}

}  // namespace strop
