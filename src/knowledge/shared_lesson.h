// A lesson as a file for other people and machines.
#pragma once

#include <string>

#include "core/lesson.h"

namespace strop {

std::string to_text(const Lesson& lesson);

// UsageErrors without the file's name: no JSON, of a newer Strop, unknown keys, a text that is no line or too long.
Lesson shared_lesson_from(const std::string& text);

}  // namespace strop
