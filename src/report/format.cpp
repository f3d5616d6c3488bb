#include "report/format.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::report {

namespace {

constexpr std::string_view absent = "–";

// Three significant digits without an exponent; `value` below 1000.
std::string three_digits(double value) {
    if (value >= 99.95) return fmt::format("{:.0f}", value);
    if (value >= 9.995) return fmt::format("{:.1f}", value);
    return fmt::format("{:.2f}", value);
}

// Scales by thousands, so that what is printed stays below 1000.
std::string scaled(double value, const std::vector<std::string_view>& units) {
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    return fmt::format("{} {}", three_digits(value), units[unit]);
}

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// The byte after the first `columns` code points.
size_t offset_of(std::string_view text, size_t columns) {
    size_t offset = 0;
    for (size_t seen = 0; offset < text.size(); ++offset)
        if (starts_code_point(text[offset]) && seen++ == columns) break;
    return offset;
}

std::string ratio_digits(double ratio) {
    if (std::isnan(ratio)) return std::string(absent);
    if (std::isinf(ratio)) return "∞";
    if (ratio > 0 && ratio < 0.095) return fmt::format("{:.3f}", ratio);
    return three_digits(ratio);
}

}  // namespace

std::string time_text(double nanoseconds) {
    if (!std::isfinite(nanoseconds) || nanoseconds <= 0) return std::string(absent);
    return scaled(nanoseconds, {"ns", "µs", "ms", "s"});
}

std::string seconds_text(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return std::string(absent);
    if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
    long whole = std::lround(seconds);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string ratio_text(double ratio) { return std::isnan(ratio) ? std::string(absent) : ratio_digits(ratio) + "×"; }

std::string interval_text(const Ratio& ratio) {
    return fmt::format("{}–{}", ratio_digits(ratio.low), ratio_digits(ratio.high));
}

std::string percent_text(double share) {
    if (!std::isfinite(share) || share <= 0) return std::string(absent);
    return fmt::format("{:.{}f}%", 100 * share, share < 0.0095 ? 1 : 0);
}

std::string spread_text(double value, double low, double high) {
    if (!(value > 0) || !std::isfinite(low) || !std::isfinite(high)) return std::string(absent);
    return fmt::format("±{:.1f}%", 100 * std::max(high - value, value - low) / value);
}

std::string rate_text(double per_second, std::string_view unit) {
    if (!std::isfinite(per_second) || per_second <= 0) return std::string(absent);
    std::vector<std::string> names;
    for (const char* prefix : {"", "k", "M", "G", "T", "P"}) names.push_back(prefix + std::string(unit));
    return scaled(per_second, {names.begin(), names.end()});
}

size_t columns_of(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string truncated(std::string_view text, size_t columns) {
    if (columns_of(text) <= columns) return std::string(text);
    if (columns == 0) return {};
    return std::string(text.substr(0, offset_of(text, columns - 1))) + "…";
}

std::string padded(std::string_view text, size_t columns, bool right) {
    size_t width = columns_of(text);
    std::string blanks(width < columns ? columns - width : 0, ' ');
    return right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
    columns = std::max<size_t>(columns, 1);
    std::vector<std::string> lines;
    while (columns_of(text) > columns) {
        size_t end = offset_of(text, columns);
        size_t blank = text.substr(0, end + 1).rfind(' ');
        bool at_blank = blank != std::string_view::npos && blank > 0;
        lines.emplace_back(text.substr(0, at_blank ? blank : end));
        text.remove_prefix(at_blank ? blank + 1 : end);
    }
    if (!text.empty() || lines.empty()) lines.emplace_back(text);
    return lines;
}

std::string one_line(std::string_view text) {
    std::string line;
    for (char c : printable(replace_all(std::string(text), "\r", " "))) {
        const bool control = c == '\n' || c == '\t';
        if (!control) line += c;
        else if (!line.empty() && line.back() != ' ') line += ' ';
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::string capitalized(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

}  // namespace strop::report
