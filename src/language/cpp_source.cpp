#include "language/cpp_source.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/strings.h"

namespace strop {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string code_only(const std::string& source) {
    std::string code = source;
    auto blank = [&](size_t from, size_t to) {
        for (size_t i = from; i < std::min(to, code.size()); ++i)
            if (code[i] != '\n') code[i] = ' ';
    };
    for (size_t i = 0; i < source.size();) {
        size_t end = i + 1;
        bool separator = i > 0 && is_word(source[i - 1]);  // 1'000'000
        if (source.compare(i, 2, "//") == 0) {
            end = std::min(source.find('\n', i), source.size());
            blank(i, end);
        } else if (source.compare(i, 2, "/*") == 0) {
            size_t close = source.find("*/", i + 2);
            end = close == std::string::npos ? source.size() : close + 2;
            blank(i, end);
        } else if (source[i] == 'R' && !separator && source.compare(i + 1, 1, "\"") == 0) {  // R"mark(...)mark"
            const size_t open = source.find('(', i);
            const std::string close = open == std::string::npos ? "" : ")" + source.substr(i + 2, open - i - 2) + "\"";
            const size_t at = close.empty() ? std::string::npos : source.find(close, open);
            end = at == std::string::npos ? source.size() : at + close.size();
            blank(i + 1, end);
        } else if (source[i] == '"' || (source[i] == '\'' && !separator)) {
            while (end < source.size() && source[end] != source[i] && source[end] != '\n')
                end += source[end] == '\\' ? 2 : 1;
            ++end;
            blank(i, end);
        }
        i = end;
    }
    return code;
}

bool mentions(const std::string& code, const std::string& name) {
    for (size_t at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
        size_t end = at + name.size();
        if ((at == 0 || !is_word(code[at - 1])) && (end >= code.size() || !is_word(code[end]))) return true;
    }
    return false;
}

bool uses_openmp(const std::string& source) {
    const std::string code = code_only(source);
    const std::string_view pragma = "pragma", prefix = "omp_";
    for (size_t at = code.find(pragma); at != std::string::npos; at = code.find(pragma, at + 1))
        if (trim(std::string_view(code).substr(at + pragma.size())).starts_with("omp")) return true;
    for (size_t at = code.find(prefix); at != std::string::npos; at = code.find(prefix, at + 1))
        if (at == 0 || !is_word(code[at - 1])) return true;
    for (const char* text : {"<omp.h>", "\"omp.h\"", "_Pragma(\"omp"})
        if (source.find(text) != std::string::npos) return true;
    return false;
}

}  // namespace strop
