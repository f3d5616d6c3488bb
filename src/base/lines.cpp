#include "base/lines.h"

#include <cctype>

namespace strop {

void Lines::add(const std::string& line) {
    if (!line.empty() && line[0] == '}') --depth_;
    text_ += line.empty() ? "\n" : std::string(static_cast<size_t>(4 * depth_), ' ') + line + "\n";
    if (!line.empty() && line.back() == '{') ++depth_;
}

void Lines::add(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) add(line);
}

void Lines::drop_unused(size_t mark, const std::string& name) {
    size_t next = text_.find('\n', mark) + 1;
    auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (size_t at = text_.find(name, next); at != std::string::npos; at = text_.find(name, at + 1))
        if (!part_of_name(text_[at - 1]) && !part_of_name(text_[at + name.size()])) return;
    text_.erase(mark, next - mark);
}

std::string parenthesised_list(const std::string& head, const std::vector<std::string>& parts, int depth) {
    constexpr size_t most_columns = 110;
    const size_t before = 4 * static_cast<size_t>(depth);
    std::string text = head + "(";
    size_t column = before + text.size();
    const std::string indent(column <= most_columns / 2 ? column : before + 8, ' ');
    for (size_t i = 0; i < parts.size(); ++i) {
        const std::string part = parts[i] + (i + 1 < parts.size() ? "," : "");
        if (i > 0 && column + 2 + part.size() > most_columns) {
            text += "\n" + indent;
            column = indent.size();
        } else if (i > 0) {
            text += " ";
            ++column;
        }
        text += part;
        column += part.size();
    }
    return text + ")";
}

}  // namespace strop
