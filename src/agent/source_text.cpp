#include "agent/source_text.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::agent {

namespace {

bool in_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

size_t end_of_literal(const std::string& text, size_t at) {
    const char quote = text[at++];
    while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

// A quote between digits separates them.
bool begins_literal(const std::string& text, size_t at) {
    return text[at] == '"' || (text[at] == '\'' && (at == 0 || !in_a_name(text[at - 1])));
}

// Comments and literals are blanks.
std::string bare_code(const std::string& source) {
    std::string code;
    for (size_t at = 0; at < source.size();) {
        size_t end = at + 1;
        bool skipped = true;
        if (source.compare(at, 2, "//") == 0) end = std::min(source.find('\n', at), source.size());
        else if (source.compare(at, 2, "/*") == 0) end = std::min(source.find("*/", at + 2), source.size() - 2) + 2;
        else if (begins_literal(source, at)) end = end_of_literal(source, at);
        else skipped = false;
        code += skipped ? ' ' : source[at];
        at = end;
    }
    return code;
}

size_t find_name(const std::string& code, const std::string& name, size_t from = 0) {
    for (size_t at = code.find(name, from); at != std::string::npos; at = code.find(name, at + 1)) {
        const size_t end = at + name.size();
        if ((at == 0 || !in_a_name(code[at - 1])) && (end == code.size() || !in_a_name(code[end]))) return at;
    }
    return std::string::npos;
}

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

// As it was shown: models copy the numbers along.
std::string without_numbers(const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    for (std::string& line : lines) {
        size_t digits = line.find_first_not_of(' ');
        size_t end = digits == std::string::npos ? digits : line.find_first_not_of("0123456789", digits);
        if (end == std::string::npos || end == digits || line[end] != '|') continue;
        line = line.substr(std::min(end + 1 + (end + 1 < line.size() && line[end + 1] == ' '), line.size()));
    }
    return join(lines, "\n");
}

}  // namespace

std::string numbered(const std::string& source) {
    std::string text;
    int number = 0;
    for (const std::string& line : split(std::string(trim(source)), '\n'))
        text += fmt::format("{:>4}| {}\n", ++number, line);
    return text;
}

std::optional<std::string> apply_edits(std::string source, const std::vector<Edit>& edits, std::string& why) {
    for (size_t i = 0; i < edits.size(); ++i) {
        Edit edit = edits[i];
        if (count_of(source, edit.find) == 0) edit = {without_numbers(edit.find), without_numbers(edit.replace)};
        const size_t found = edit.find.empty() ? 0 : count_of(source, edit.find);
        if (found != 1) {
            why = fmt::format("the text to find of edit {} occurs {} times in the source, not once", i + 1, found);
            return std::nullopt;
        }
        source.replace(source.find(edit.find), edit.find.size(), edit.replace);
    }
    return source;
}

bool names(const std::string& source, const std::string& identifier) {
    return find_name(bare_code(source), identifier) != std::string::npos;
}

bool defines(const std::string& source, const std::string& function) {
    const std::string code = bare_code(source);
    for (size_t at = find_name(code, function); at != std::string::npos; at = find_name(code, function, at + 1)) {
        const size_t next = code.find_first_not_of(" \n\t", at + function.size());
        if (next != std::string::npos && code[next] == '(' && code.find('{', next) != std::string::npos) return true;
    }
    return false;
}

bool is_whole(const std::string& source) {
    const std::string code = bare_code(source);
    return std::count(code.begin(), code.end(), '{') == std::count(code.begin(), code.end(), '}');
}

std::vector<std::string> drop_unused_tunables(std::string& source) {
    static const std::regex declaration(R"(^\s*//\s*strop:(?:tune|late)\s+([A-Za-z_]\w*)\s*=.*)"),
        condition(R"(^\s*//\s*strop:require\b.*)");
    const std::string code = bare_code(source);
    std::vector<std::string> lines = split(source, '\n'), unused;
    std::erase_if(lines, [&](const std::string& line) {
        std::smatch match;
        if (!std::regex_match(line, match, declaration) || find_name(code, match[1]) != std::string::npos) return false;
        unused.push_back(match[1]);
        return true;
    });
    std::erase_if(lines, [&](const std::string& line) {
        return std::regex_match(line, condition) &&
               std::any_of(unused.begin(), unused.end(),
                           [&](const std::string& name) { return find_name(line, name) != std::string::npos; });
    });
    if (!unused.empty()) source = join(lines, "\n");
    return unused;
}

}  // namespace strop::agent
