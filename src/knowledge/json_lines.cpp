#include "knowledge/json_lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"

namespace strop {

namespace {

void append(const Json& json, int levels, int depth, std::string& text) {
    if (levels == 0 || !json.is_structured() || json.empty()) {
        text += dump(json);
        return;
    }
    const std::string indent(static_cast<size_t>(depth) + 1, ' ');
    text += json.is_object() ? "{" : "[";
    const char* separator = "\n";
    for (const auto& [key, element] : json.items()) {
        text += separator + indent;
        if (json.is_object()) text += dump(Json(key)) + ": ";
        append(element, levels - 1, depth + 1, text);
        separator = ",\n";
    }
    text += "\n" + indent.substr(1) + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string in_lines(const Json& json, int levels) {
    std::string text;
    append(json, levels, 0, text);
    return text + "\n";
}

void check_keys(const Json& object, const std::vector<std::string>& known, const std::string& what) {
    for (const auto& [key, value] : object.items()) {
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        const std::vector<std::string> near = nearest(key, known);
        throw UsageError(fmt::format("unknown key '{}' in {}", one_line(key), what),
                         near.empty() ? "known: " + join(known, ", ") : fmt::format("did you mean '{}'?", near[0]));
    }
}

Json read_document(const std::string& text, const std::string& format, int schema,
                   const std::vector<std::string>& known) {
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) throw UsageError("is no JSON, or a part of it only", whole_file_hint);
    const auto stated = json.is_object() ? json.find("format") : json.end();
    if (!json.is_object() || stated == json.end() || *stated != format)
        throw UsageError(fmt::format("is no document of the format {}", format), whole_file_hint);
    const auto version = json.find("schema");
    if (version == json.end() || !version->is_number_integer() || *version < 1)
        throw UsageError("states no schema", whole_file_hint);
    if (*version > schema)
        throw UsageError(
            fmt::format("was written by a newer Strop (schema {}, this one knows {})", version->dump(), schema),
            "update Strop; the file stays as it is");
    std::vector<std::string> keys = {"format", "schema"};
    keys.insert(keys.end(), known.begin(), known.end());
    check_keys(json, keys, "the document");
    for (const std::string& key : known)
        if (!json.contains(key)) throw UsageError(fmt::format("has no key '{}'", key), whole_file_hint);
    return json;
}

}  // namespace strop
