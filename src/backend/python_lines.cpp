#include "backend/python_lines.h"

#include <cctype>

#include "base/strings.h"

namespace strop::backend {

namespace {

constexpr size_t width = 100;

// The end of what the bracket at `open` begins.
size_t closing(const std::string& line, size_t open) {
    int depth = 0;
    for (size_t i = open; i < line.size(); ++i) {
        depth += (line[i] == '(' || line[i] == '[') - (line[i] == ')' || line[i] == ']');
        if (depth == 0) return i;
    }
    return std::string::npos;
}

// Arguments of the call that ends a long line in lines of their own.
std::string wrapped_line(const std::string& line) {
    if (line.size() <= width) return line + "\n";
    const size_t last = line.size() - (line.back() == ',' ? 2 : 1);
    for (size_t open = line.find('('); open != std::string::npos; open = line.find('(', open + 1)) {
        const bool call = open > 0 && std::isalnum(static_cast<unsigned char>(line[open - 1]));
        if (!call || closing(line, open) != last) continue;
        const std::string margin(line.find_first_not_of(' '), ' ');
        std::string text = line.substr(0, open + 1) + "\n", argument;
        for (size_t i = open + 1; i <= last; ++i) {
            if (line[i] == ',' || i == last) {
                text += wrapped_line(margin + "    " + argument + ",");
                argument.clear();
                ++i;
            } else if (line[i] == '(' || line[i] == '[') {
                const size_t end = closing(line, i);
                argument += line.substr(i, end + 1 - i);
                i = end;
            } else {
                argument += line[i];
            }
        }
        return text + margin + line.substr(last) + "\n";
    }
    return line + "\n";
}

}  // namespace

std::string wrapped(const std::string& text) {
    std::string result;
    for (const std::string& line : split(text, '\n'))
        if (!line.empty()) result += wrapped_line(line);
    return result;
}

std::string in_lines(const std::string& begin, const std::vector<std::string>& arguments, const std::string& end,
                     int depth) {
    const std::string margin(static_cast<size_t>(4 * depth), ' ');
    const std::string one_line = margin + begin + join(arguments, ", ") + end;
    if (one_line.size() <= width) return one_line;
    std::string text = margin + begin, line;
    for (const std::string& argument : arguments) {
        if (line.empty() || line.size() + argument.size() + 2 > width) {
            text += line + "\n";
            line = margin + "    " + argument + ",";
        } else {
            line += " " + argument + ",";
        }
    }
    return text + line + "\n" + margin + end;
}

}  // namespace strop::backend
