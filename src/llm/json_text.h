// JSON out of what a model wrote.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace strop::llm {

// The first JSON object (or array) in a text: fences, prose before and behind, a byte-order mark, comments, trailing
// commas and a reply that was cut off (open strings, arrays and objects are closed; a half-written member is dropped)
// are forgiven. Nothing when there is none.
std::optional<nlohmann::json> find_json(const std::string& text);

// The longest fenced block of a text ("```cpp"), else the whole text when it has no fence: code of models that
// cannot write JSON.
std::string find_code(const std::string& text);

// Whether a value fits a JSON Schema of the subset that our schemas use (type, properties, required, items, enum,
// minimum, maximum, minItems, maxItems, minLength, additionalProperties); the first thing that does not, as
// "strategies[1].confidence: is no number", or empty.
std::string mismatch(const nlohmann::json& value, const nlohmann::json& schema);

}  // namespace strop::llm
