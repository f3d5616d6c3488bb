// JSON documents that people read and version control compares: one thing a line, the same bytes for the same content.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace strop {

// Containers down to `levels` have a line for each element, those below are one line. Ends with a line end.
std::string in_lines(const Json& json, int levels);

// A document of that format. UsageErrors without the file's name: no JSON, another format, a newer schema, keys that
// are neither "format", "schema" nor `known`, with the nearest known one.
Json read_document(const std::string& text, const std::string& format, int schema,
                   const std::vector<std::string>& known);

// UsageError where an object has another key than `known`; `what` names it.
void check_keys(const Json& object, const std::vector<std::string>& known, const std::string& what);

inline constexpr const char* whole_file_hint =
    "take the file again from where it came; `strop knowledge export` writes one";

}  // namespace strop
