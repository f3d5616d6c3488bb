#include "base/strings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

namespace strop {

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    size_t start = 0;
    while (true) {
        size_t end = text.find(separator, start);
        parts.emplace_back(text.substr(start, end - start));
        if (end == std::string_view::npos) return parts;
        start = end + 1;
    }
}

std::string_view trim(std::string_view text) {
    const char* blank = " \t\r\n";
    size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return result;
}

std::string printable(std::string_view text) {
    std::string result(text);
    for (size_t i = 0; i < result.size(); ++i) {
        unsigned char c = static_cast<unsigned char>(result[i]);
        unsigned char before = i > 0 ? static_cast<unsigned char>(result[i - 1]) : 0;
        bool plain = c < 0x20 && c != '\n' && c != '\t';
        bool of_two_bytes = before == 0xC2 && c >= 0x80 && c < 0xA0;   // U+0080 to U+009F
        if (of_two_bytes) result[i - 1] = '?';
        if (plain || c == 0x7F || of_two_bytes) result[i] = '?';
    }
    return result;
}

bool is_identifier(std::string_view text) {
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0]))) return false;
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

int edit_distance(std::string_view a, std::string_view b) {
    std::vector<int> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= a.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i);
        for (size_t j = 1; j <= b.size(); ++j) {
            int substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
        }
    }
    return row[b.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates,
                                 size_t count) {
    std::vector<std::pair<int, std::string>> scored;
    const int most = std::max<int>(2, static_cast<int>(word.size()) / 2);
    for (const std::string& candidate : candidates) {
        bool contains = candidate.find(word) != std::string::npos && word.size() > 2;
        if (!contains && std::abs(std::ssize(candidate) - std::ssize(word)) > most) continue;
        int distance = edit_distance(lower(word), lower(candidate));
        if (contains) distance = std::min(distance, 2);
        if (distance <= most)
            scored.emplace_back(distance, candidate);
    }
    std::sort(scored.begin(), scored.end());
    std::vector<std::string> names;
    for (size_t i = 0; i < scored.size() && i < count; ++i) names.push_back(scored[i].second);
    return names;
}

std::string human_bytes(double bytes) {
    const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (bytes >= 1024 && unit < 4) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string human_nanoseconds(double ns) {
    if (ns < 1e3) return fmt::format("{:.3g} ns", ns);
    if (ns < 1e6) return fmt::format("{:.3g} µs", ns / 1e3);
    if (ns < 1e9) return fmt::format("{:.3g} ms", ns / 1e6);
    return fmt::format("{:.3g} s", ns / 1e9);
}

}  // namespace strop
