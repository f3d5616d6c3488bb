#include "playbook/source_parts.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"

namespace strop::playbook {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Behind the brace that closes the one at `open`.
size_t after_block(const std::string& text, size_t open) {
    int depth = 0;
    for (size_t i = open; i < text.size(); ++i) {
        depth += (text[i] == '{') - (text[i] == '}');
        if (depth == 0) return i;
    }
    return text.size();
}

}  // namespace

std::string with_names(const std::string& text, const std::map<std::string, std::string>& names) {
    std::string result;
    for (size_t i = 0; i < text.size();) {
        size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        if (end == i) {
            result += text[i++];
            continue;
        }
        std::string word = text.substr(i, end - i);
        auto name = names.find(word);
        result += name == names.end() ? word : name->second;
        i = end;
    }
    return result;
}

bool mentions_any(const std::string& text, const std::set<std::string>& names) {
    for (size_t i = 0; i < text.size();) {
        if (text.compare(i, 2, "//") == 0) i = std::min(text.find('\n', i), text.size());
        size_t end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        if (end > i &&
            (names.contains(text.substr(i, end - i)) || (names.contains("STAGE") && text.compare(i, 5, "STAGE") == 0)))
            return true;
        i = std::max(end, i + 1);
    }
    return false;
}

std::set<std::string> defined_names(const std::string& piece) {
    static const std::set<std::string> words = {"__attribute__", "always_inline", "vector_size", "aligned", "static"};
    std::set<std::string> names;
    bool comment = false;
    for (size_t i = 0; i < piece.size(); ++i) {
        if (piece.compare(i, 2, "//") == 0) comment = true;
        if (piece[i] == '\n') comment = false;
        if (comment) continue;
        if (piece[i] == '(' || piece[i] == '{' || piece[i] == ';' || piece[i] == '=') {
            size_t end = i;
            while (end > 0 && piece[end - 1] == ' ') --end;
            size_t begin = end;
            while (begin > 0 && is_word(piece[begin - 1])) --begin;
            std::string name = piece.substr(begin, end - begin);
            if (!name.empty() && !words.contains(name)) names.insert(name);
        }
        if (piece[i] == '{') i = std::min(after_block(piece, i), piece.size() - 1);
        if (piece[i] == '=') i = std::min(piece.find(';', i), piece.size() - 1);
        if (piece.compare(i, 8, "typedef ") != 0) continue;
        size_t type = piece.find(' ', i), name = piece.find(' ', type + 1) + 1, end = name;
        while (end < piece.size() && is_word(piece[end])) ++end;
        names.insert(piece.substr(name, end - name));
    }
    return names;
}

SourceParts taken_apart(const std::string& source) {
    SourceParts parts;
    std::string piece;
    int depth = 0;
    auto flush = [&] {
        std::string text(trim(piece));
        if (!text.empty()) parts.pieces.push_back(text);
        piece.clear();
    };
    bool head = true;
    for (const std::string& line : split(source, '\n')) {
        if (line.starts_with("// strop:")) {
            parts.settings.push_back(line.substr(3));
        } else if (line.starts_with("#include")) {
            parts.includes.push_back(line);
            head = false;
        } else if (head && line.starts_with("//")) {
            std::string comment(trim(line.substr(2)));
            if (!comment.empty()) parts.comments.push_back(comment);
        } else {
            head = head && trim(line).empty();
            if (line.starts_with("#if")) ++depth;
            if (line.starts_with("#endif")) --depth;
            for (char c : line) depth += (c == '{') - (c == '}');
            if (depth == 0 && trim(line).empty()) flush();
            else piece += line + "\n";
        }
    }
    flush();
    return parts;
}

std::string as_own_function(const std::string& piece) {
    constexpr std::string_view outer = "extern \"C\" void";
    size_t begin = piece.find(outer);
    if (begin == std::string::npos) return piece;
    size_t body = piece.find('{', begin);
    std::string head = "static void" + piece.substr(begin + outer.size(), body - begin - outer.size());
    return piece.substr(0, begin) + replace_all(head, "\n    ", "\n") + piece.substr(body);
}

std::string kept_memory(const std::string& name, const std::string& what) {
    return "// Memory for " + what + ", kept between calls, aligned to a cache line." + R"(
// Not inlined: clang lets values stay in the upper vector registers of AVX-512 while a thread-local variable is looked up,
// and the lookup may change them.
template <int slot>
__attribute__((noinline)) static void* )" +
           name + R"((int64_t bytes) {
    static thread_local struct Kept {
        char* memory = nullptr;
        int64_t size = 0;
        ~Kept() { delete[] memory; }
    } kept;
    if (kept.size < bytes + 64) {
        delete[] kept.memory;
        kept.memory = nullptr;
        kept.size = 0;
        kept.memory = new char[bytes + 64];
        kept.size = bytes + 64;
    }
    return (void*)(((uintptr_t)kept.memory + 63) / 64 * 64);
}

)";
}

}  // namespace strop::playbook
