// As much of JSON Schema (draft 2020-12) as docs/report.schema.json uses; a keyword that is not known is a
// violation.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace strop::fakes {

using SchemaJson = nlohmann::json;

inline bool has_type(const std::string& type, const SchemaJson& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "number") return value.is_number();
    if (type == "integer") return value.is_number_integer();
    if (type == "boolean") return value.is_boolean();
    return type == "null" && value.is_null();
}

inline bool has_some_type(const SchemaJson& types, const SchemaJson& value) {
    if (types.is_string()) return has_type(types, value);
    return std::any_of(types.begin(), types.end(), [&](const SchemaJson& type) { return has_type(type, value); });
}

std::string violation_at(const SchemaJson& root, const SchemaJson& rules, const SchemaJson& value,
                         const std::string& path);

inline std::string object_violation(const SchemaJson& root, const SchemaJson& rules, const SchemaJson& value,
                                    const std::string& path) {
    for (const SchemaJson& key : rules.value("required", SchemaJson::array()))
        if (!value.contains(key)) return path + ": misses " + key.dump();
    SchemaJson properties = rules.value("properties", SchemaJson::object());
    for (const auto& [key, child] : value.items()) {
        std::string where = path + "/" + key, found;
        if (rules.contains("propertyNames")) found = violation_at(root, rules["propertyNames"], key, where);
        if (!found.empty()) return found;
        if (properties.contains(key)) found = violation_at(root, properties[key], child, where);
        else if (rules.contains("additionalProperties") && rules["additionalProperties"] == false)
            found = where + ": is not allowed";
        else if (rules.contains("additionalProperties"))
            found = violation_at(root, rules["additionalProperties"], child, where);
        if (!found.empty()) return found;
    }
    return {};
}

inline std::string violation_at(const SchemaJson& root, const SchemaJson& rules, const SchemaJson& value,
                                const std::string& path) {
    static const std::set<std::string> known = {
        "$schema", "title", "description", "type",  "properties", "required", "additionalProperties",
        "$defs",   "items", "enum",        "const", "$ref",       "minimum",  "propertyNames"};
    for (const auto& [keyword, argument] : rules.items())
        if (!known.count(keyword)) return path + ": unknown keyword " + keyword;
    if (rules.contains("$ref")) {
        std::string target = rules["$ref"].get<std::string>().substr(1);
        std::string found = violation_at(root, root.at(SchemaJson::json_pointer(target)), value, path);
        if (!found.empty()) return found;
    }
    if (rules.contains("type") && !has_some_type(rules["type"], value))
        return path + ": wrong type " + value.type_name();
    if (rules.contains("const") && rules["const"] != value) return path + ": is not " + rules["const"].dump();
    if (rules.contains("enum") && std::find(rules["enum"].begin(), rules["enum"].end(), value) == rules["enum"].end())
        return path + ": is none of " + rules["enum"].dump();
    if (rules.contains("minimum") && value.is_number() && value < rules["minimum"]) return path + ": is too small";
    if (rules.contains("items") && value.is_array())
        for (const SchemaJson& element : value)
            if (std::string found = violation_at(root, rules["items"], element, path + "[]"); !found.empty())
                return found;
    return value.is_object() ? object_violation(root, rules, value, path) : std::string();
}

// Empty when the document follows the schema.
inline std::string violation(const SchemaJson& schema, const SchemaJson& document) {
    return violation_at(schema, schema, document, "");
}

}  // namespace strop::fakes
