// Files of other tuners, by their formats.
#pragma once

#include <filesystem>
#include <string>

#include "tune/measured_space.h"

namespace strop::exchange {

// The text of a file, plain or gzip (told by its first bytes). UsageError when it cannot be read.
std::string read_text(const std::filesystem::path& path);

// A measured space in any format that is known here: told by its keys. UsageError naming the file and the
// line or key, with a hint that lists the formats.
tune::MeasuredSpace read_measured(const std::filesystem::path& path);

// The same of a file's bytes; `file` names it in messages.
tune::MeasuredSpace parse_measured(const std::string& bytes, const std::string& file);

}  // namespace strop::exchange
