#include "llm/wire_schema.h"

#include <algorithm>
#include <array>

namespace strop::llm {

namespace {

using Json = nlohmann::ordered_json;

// Keywords that hold one schema, a list of them, or one for each name.
constexpr std::array<const char*, 2> single = {"items", "not"};
constexpr std::array<const char*, 4> lists = {"anyOf", "oneOf", "allOf", "prefixItems"};
constexpr std::array<const char*, 3> named = {"properties", "$defs", "definitions"};

template <typename Visit>
void visit_parts(Json& schema, const Visit& visit) {
    for (const char* key : single)
        if (schema.contains(key)) visit(schema[key]);
    for (const char* key : lists)
        if (schema.contains(key))
            for (Json& part : schema[key]) visit(part);
    for (const char* key : named)
        if (schema.contains(key))
            for (Json& part : schema[key]) visit(part);
}

void close(Json& schema, const std::set<std::string>& without) {
    if (!schema.is_object()) return;
    for (const std::string& keyword : without) schema.erase(keyword);
    if (schema.contains("properties") && !schema.contains("additionalProperties"))
        schema["additionalProperties"] = false;
    visit_parts(schema, [&](Json& part) { close(part, without); });
}

}  // namespace

Json closed_schema(const Json& schema, const std::set<std::string>& without) {
    Json closed = schema;
    close(closed, without);
    return closed;
}

bool requires_all(const Json& schema) {
    if (!schema.is_object()) return true;
    Json copy = schema;
    bool all = schema.value("additionalProperties", Json(false)) == Json(false);
    Json required = schema.value("required", Json::array());
    Json properties = schema.value("properties", Json::object());
    for (const auto& [name, part] : properties.items())
        all = all && std::find(required.begin(), required.end(), Json(name)) != required.end();
    visit_parts(copy, [&](Json& part) { all = all && requires_all(part); });
    return all;
}

}  // namespace strop::llm
