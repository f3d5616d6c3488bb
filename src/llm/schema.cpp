// The subset of JSON Schema that our own schemas use.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "llm/json_text.h"
#include "llm/text.h"

namespace strop::llm {

namespace {

using nlohmann::json;

std::string check(const json& value, const json& schema, const std::string& path);

std::string at(const std::string& path, const std::string& phrase) {
    return (path.empty() ? "the reply" : path) + ": " + phrase;
}

std::string shown(const std::string& key) { return one_line(key, 60); }

const json* find(const json& schema, const char* key) {
    auto found = schema.find(key);
    return found == schema.end() ? nullptr : &*found;
}

bool is_of_type(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "number") return value.is_number();
    if (type != "integer") return true;
    if (value.is_number_integer()) return true;
    return value.is_number() && std::floor(value.get<double>()) == value.get<double>();
}

std::string check_type(const json& value, const json& type, const std::string& path) {
    std::vector<std::string> names;
    if (type.is_string()) names = {type.get<std::string>()};
    if (type.is_array())
        for (const json& name : type)
            if (name.is_string()) names.push_back(name.get<std::string>());
    for (const std::string& name : names)
        if (is_of_type(value, name)) return {};
    return names.empty() ? "" : at(path, "is no " + join(names, " or "));
}

std::string check_enum(const json& value, const json& choices, const std::string& path) {
    if (!choices.is_array()) return {};
    std::vector<std::string> names;
    for (const json& choice : choices) {
        if (choice == value) return {};
        names.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
    }
    return at(path, "is none of " + shown(join(names, ", ")));
}

std::string check_number(const json& value, const json& schema, const std::string& path) {
    const json *least = find(schema, "minimum"), *most = find(schema, "maximum");
    double number = value.get<double>();
    if (least && least->is_number() && number < least->get<double>())
        return at(path, fmt::format("is under {}", least->get<double>()));
    if (most && most->is_number() && number > most->get<double>())
        return at(path, fmt::format("is over {}", most->get<double>()));
    return {};
}

std::string check_text(const json& value, const json& schema, const std::string& path) {
    const json* least = find(schema, "minLength");
    if (!least || !least->is_number()) return {};
    double length = 0;
    for (char c : value.get_ref<const std::string&>()) length += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return length < least->get<double>() ? at(path, fmt::format("is shorter than {}", least->get<double>())) : "";
}

std::string check_list(const json& value, const json& schema, const std::string& path) {
    const json *least = find(schema, "minItems"), *most = find(schema, "maxItems");
    const json* items = find(schema, "items");
    auto size = static_cast<double>(value.size());
    if (least && least->is_number() && size < least->get<double>())
        return at(path, fmt::format("has {} elements, fewer than {}", size, least->get<double>()));
    if (most && most->is_number() && size > most->get<double>())
        return at(path, fmt::format("has {} elements, more than {}", size, most->get<double>()));
    for (size_t i = 0; items && i < value.size(); ++i)
        if (std::string why = check(value[i], *items, fmt::format("{}[{}]", path, i)); !why.empty()) return why;
    return {};
}

std::string check_members(const json& value, const json& schema, const std::string& path) {
    const json *required = find(schema, "required"), *known = find(schema, "properties"),
               *others = find(schema, "additionalProperties");
    if (required && required->is_array())
        for (const json& key : *required)
            if (key.is_string() && !value.contains(key.get<std::string>()))
                return at(path, "lacks '" + shown(key.get<std::string>()) + "'");
    for (const auto& [key, member] : value.items()) {
        std::string inner = path.empty() ? shown(key) : path + "." + shown(key);
        const json* own = known && known->is_object() && known->contains(key) ? &(*known)[key] : others;
        if (!own) continue;
        if (own == others && own->is_boolean() && !own->get<bool>())
            return at(path, "has the unknown key '" + shown(key) + "'");
        if (std::string why = check(member, *own, inner); !why.empty()) return why;
    }
    return {};
}

std::string check(const json& value, const json& schema, const std::string& path) {
    if (schema.is_boolean()) return schema.get<bool>() ? "" : at(path, "is not allowed");
    if (!schema.is_object()) return {};
    std::string why;
    if (const json* type = find(schema, "type")) why = check_type(value, *type, path);
    const json* choices = find(schema, "enum");
    if (choices && why.empty()) why = check_enum(value, *choices, path);
    if (!why.empty()) return why;
    if (value.is_number()) return check_number(value, schema, path);
    if (value.is_string()) return check_text(value, schema, path);
    if (value.is_array()) return check_list(value, schema, path);
    return value.is_object() ? check_members(value, schema, path) : "";
}

}  // namespace

std::string mismatch(const json& value, const json& schema) { return check(value, schema, ""); }

}  // namespace strop::llm
