#include "knowledge/shared_lesson.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "core/json.h"
#include "knowledge/json_lines.h"

namespace strop {

namespace {

constexpr const char* format_name = "strop-lesson";
constexpr int schema = 1;
constexpr size_t longest_text = 2000;

// A model reads it as one line of a list.
void check_text(const std::string& text, const std::string& key) {
    if (text.size() > longest_text)
        throw UsageError(fmt::format("'{}' is longer than {} characters", key, longest_text), "a lesson is a sentence");
    if (one_line(text) != text)
        throw UsageError(fmt::format("'{}' has line ends or control characters", key), "a lesson is a sentence");
}

}  // namespace

std::string to_text(const Lesson& lesson) {
    return in_lines({{"format", format_name}, {"schema", schema}, {"lesson", lesson}}, 3);
}

Lesson shared_lesson_from(const std::string& text) {
    const Json json = read_document(text, format_name, schema, {"lesson"});
    const Json& stated = json.at("lesson");
    try {
        const Lesson lesson = stated.get<Lesson>();
        check_keys(stated,
                   {"when", "advice", "strategy", "values", "what", "why", "author", "source", "measured", "document",
                    "quotation"},
                   "the lesson");
        if (stated.contains("when"))
            check_keys(stated.at("when"), {"problem", "family", "bound", "hardware", "words"}, "its conditions");
        if (lesson.what.empty()) throw UsageError("the lesson says nothing", "its key 'what' is a sentence");
        const Json complete = lesson;
        for (const auto& [key, value] : complete.items())
            if (value.is_string()) check_text(value.get<std::string>(), key);
        for (const auto& [key, value] : complete.at("when").items()) check_text(value.get<std::string>(), key);
        for (const auto& [name, value] : lesson.values) check_text(name + to_string(value), "values");
        return lesson;
    } catch (const Json::exception& error) {
        throw UsageError(fmt::format("is no lesson: {}", one_line(error.what())), whole_file_hint);
    }
}

}  // namespace strop
