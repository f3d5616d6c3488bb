// What a language model replied: JSON or code in it, and what does not fit a schema.
#include <optional>

#include "fuzz/fuzz.h"
#include "llm/json_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using nlohmann::json;
    const std::string text = strop::fuzz::text_of(data, size);
    static const json schema = json::parse(R"({"type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "number", "minimum": 0}},
                       "b": {"type": "string", "minLength": 1, "enum": ["x", "y"]}}})");
    strop::fuzz::must(strop::llm::find_code(text).size() <= text.size(), "more code than text");
    const std::optional<json> found = strop::llm::find_json(text);
    if (!found) return 0;
    strop::llm::mismatch(*found, schema);
    found->dump(-1, ' ', false, json::error_handler_t::replace);
    return 0;
}
