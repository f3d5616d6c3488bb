// Small text helpers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strop {

std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
// Of what Windows' editors put in front of a text in UTF-8.
std::string_view without_byte_order_mark(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string replace_all(std::string text, std::string_view from, std::string_view to);
std::string lower(std::string_view text);
// Control characters, of which terminals make more than text, become '?'; line ends and tabs stay.
std::string printable(std::string_view text);
bool is_identifier(std::string_view text);  // [A-Za-z_][A-Za-z0-9_]*

// Levenshtein distance, for "did you mean".
int edit_distance(std::string_view a, std::string_view b);

// The candidates nearest to `word`, best first, at most `count`, none that is hopelessly far.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates, size_t count = 3);

// "1 run", "12 runs".
std::string counted(int64_t count, std::string_view noun);
// "1.5 GiB", "12 KiB".
std::string human_bytes(double bytes);
// "12.3 µs", "4.56 ms".
std::string human_nanoseconds(double nanoseconds);

}  // namespace strop
