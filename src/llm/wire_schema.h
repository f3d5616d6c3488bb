// A JSON Schema in the dialect that a provider accepts for structured output.
#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace strop::llm {

// A copy, in the same order, whose objects allow no further properties, without the given keywords (constraints that
// the provider refuses; whoever reads the reply checks them).
nlohmann::ordered_json closed_schema(const nlohmann::ordered_json& schema, const std::set<std::string>& without);

// Whether every object requires all of its properties, as OpenAI's strict mode wants it.
bool requires_all(const nlohmann::ordered_json& schema);

}  // namespace strop::llm
