// Numbers and texts as people read them; the same in every form of the report. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/evaluation.h"

namespace strop::report {

// "–" stands for what was not measured (not finite, or not positive).
std::string time_text(double nanoseconds);                        // "12.3 µs", three significant digits
std::string seconds_text(double seconds);                         // "4.2 s", "2 min 05 s"
std::string ratio_text(double ratio);                             // "1.42×"
std::string interval_text(const Ratio& ratio);                    // "1.38–1.47"
std::string percent_text(double share);                           // "63%"
std::string spread_text(double value, double low, double high);   // "±1.5%": the wider half of the interval
std::string rate_text(double per_second, std::string_view unit);  // "34 GB/s"

// Columns on a terminal, one a code point.
size_t columns_of(std::string_view text);
std::string truncated(std::string_view text, size_t columns);  // "a long na…"
std::string padded(std::string_view text, size_t columns, bool right = false);
std::vector<std::string> wrapped(std::string_view text, size_t columns);  // breaks words only when they must
// One line without control characters (evidence may hold anything that a compiler prints).
std::string one_line(std::string_view text);
std::string capitalized(std::string text);  // its first letter

}  // namespace strop::report
