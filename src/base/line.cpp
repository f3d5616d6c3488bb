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

}  // namespace strop
