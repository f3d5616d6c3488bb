#include "llm/capabilities.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

Json::json_pointer pointer_to(const std::string& path) {
    Json::json_pointer pointer;
    for (const std::string& part : split(path, '.')) pointer /= part;
    return pointer;
}

std::string parent_of(const std::string& path) {
    size_t dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

bool has(const Body& body, const std::string& path) { return body.contains(pointer_to(path)); }

// An object that is left empty goes, too: {"reasoning": {}} is not the same as nothing.
void erase(Body& body, const std::string& path) {
    if (!has(body, path)) return;
    auto pointer = pointer_to(path);
    auto parent = pointer.parent_pointer();
    body[parent].erase(pointer.back());
    if (!parent.empty() && body[parent].empty()) erase(body, parent_of(path));
}

void list_leaves(const Json& value, const std::string& path, std::vector<std::string>& leaves) {
    if (!value.is_object()) return leaves.push_back(path);
    for (const auto& [key, part] : value.items()) list_leaves(part, path.empty() ? key : path + "." + key, leaves);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool is_plain(const std::string& word) {
    return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// Where a message names a parameter. An everyday word counts only where it is quoted or clearly the subject.
size_t find_name(const std::string& message, const std::string& name) {
    for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
        size_t end = at + name.size();
        char before = at > 0 ? message[at - 1] : '\n', after = end < message.size() ? message[end] : '\n';
        if (is_word(before) || is_word(after)) continue;
        bool quoted = std::string_view("'\"`").find(before) != std::string_view::npos && before == after;
        bool subject = (at == 0 && after == ':') || message.compare(end, 17, " is not supported") == 0;
        if (!is_plain(name) || quoted || subject) return at;
    }
    return std::string::npos;
}

bool is_within(const std::string& inner, const std::string& outer) {
    return inner == outer || inner.starts_with(outer + ".");
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

// What an error may name, and what is left out then.
struct Name {
    std::string path, drop;
};

std::vector<Name> names_in(const Body& body, const Capabilities& capabilities, const std::vector<std::string>& known) {
    std::vector<std::string> leaves;
    if (!capabilities.body.empty()) list_leaves(capabilities.body, "", leaves);
    std::vector<Name> names;
    for (const std::string& path : known)
        if (has(body, path)) names.push_back({path, path});
    for (const std::string& leaf : leaves) {
        if (!has(body, leaf)) continue;
        names.push_back({leaf, leaf});
        // An object stands for its part when it holds nothing but what the table adds.
        for (std::string parent = parent_of(leaf); !parent.empty(); parent = parent_of(parent)) {
            auto pointer = pointer_to(parent);
            if (Json(body[pointer]) == capabilities.body[pointer]) names.push_back({parent, leaf});
        }
    }
    return names;
}

Capabilities read(const Json& accepts) {
    Capabilities result;
    result.output_limit = accepts.value("output_limit", "");
    result.most_output_tokens = accepts.value("most_output_tokens", 0);
    result.json_schema = accepts.value("json_schema", false);
    result.schema_without = accepts.value("schema_without", std::set<std::string>());
    result.cache_markers = accepts.value("cache_markers", false);
    result.body = accepts.value("body", Json::object());
    return result;
}

}  // namespace

Capabilities capabilities_from(const std::string& text, const std::string& file, const std::string& provider,
                               const std::string& model) {
    try {
        std::vector<Json> rows;
        const Json root = Json::parse(text);
        for (const Json& row : root.at("models"))
            if (row.at("provider") == provider && model.starts_with(row.at("prefix").get<std::string>()))
                rows.push_back(row);
        std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
            return a["prefix"].get<std::string>().size() < b["prefix"].get<std::string>().size();
        });
        Json accepts = Json::object();
        for (const Json& row : rows) accepts.merge_patch(row.at("accepts"));
        return read(accepts);
    } catch (const Json::exception& problem) {
        throw UsageError(fmt::format("{}: {}", file, problem.what()));
    }
}

Capabilities capabilities_of(const std::string& provider, const std::string& model) {
    fs::path file = home_folder() / "data" / "models.json";
    return capabilities_from(read_file(file), file.string(), provider, model);
}

void apply_drops(const Capabilities& capabilities, Body& body) {
    for (const std::string& path : capabilities.dropped) erase(body, path);
}

std::optional<std::string> rejected_parameter(const WireError& error, const Body& body,
                                              const Capabilities& capabilities, const std::vector<std::string>& known) {
    // Some servers fail where they should refuse.
    const bool refused = error.status == 400 || error.status == 422 ||
                         (error.status == 500 && error.message.find("validation error") != std::string::npos);
    if (!refused) return std::nullopt;
    std::optional<std::string> found;
    size_t first = std::string::npos;
    for (const Name& name : names_in(body, capabilities, known)) {
        if (!error.param.empty()) {
            if (is_within(error.param, name.drop) || is_within(name.drop, error.param)) return name.drop;
            continue;
        }
        size_t at = std::min(find_name(error.message, name.path), find_name(error.message, last_part(name.path)));
        if (at < first) found = name.drop, first = at;
    }
    return found;
}

}  // namespace strop::llm
