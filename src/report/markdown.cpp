#include "report/markdown.h"

#include "base/strings.h"
#include "report/format.h"

namespace strop::report::markdown_text {

namespace {

std::string row(const std::vector<std::string>& cells) { return "| " + join(cells, " | ") + " |\n"; }

}  // namespace

std::string escaped(std::string_view text) {
    std::string result;
    for (char c : one_line(text)) {
        if (c == '<') result += "&lt;";
        else if (c == '>') result += "&gt;";
        else if (c == '&') result += "&amp;";
        else {
            if (std::string_view("\\`*_[]|#~").find(c) != std::string_view::npos) result += '\\';
            result += c;
        }
    }
    return result;
}

std::string code(std::string_view text) {
    std::string line = one_line(text);
    if (line.empty()) return "–";
    std::string fence = "`";
    while (line.find(fence) != std::string::npos) fence += '`';
    if (fence.size() > 1) line = " " + line + " ";
    return fence + replace_all(line, "|", "\\|") + fence;
}

std::string table(const std::vector<std::string>& titles, std::string_view alignment,
                  const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::string> rule;
    for (size_t i = 0; i < titles.size(); ++i)
        rule.push_back(i < alignment.size() && alignment[i] == 'r' ? "--:" : "---");
    std::string text = row(titles) + row(rule);
    for (const std::vector<std::string>& cells : rows) text += row(cells);
    return text + "\n";
}

std::string fenced(std::string_view text, std::string_view language) {
    std::string fence = "```";
    while (text.find(fence) != std::string_view::npos) fence += '`';
    const bool ends_line = text.empty() || text.back() == '\n';
    return fence + std::string(language) + "\n" + printable(text) + (ends_line ? "" : "\n") + fence;
}

}  // namespace strop::report::markdown_text
