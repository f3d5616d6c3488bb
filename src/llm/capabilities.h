// What a model accepts beside the bare question: data (data/models.json), corrected by what it rejects by name.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "llm/wire_error.h"

namespace strop::llm {

// What is sent. Its keys stay in order: a reply to a JSON Schema is written in the order of the schema's properties.
using Body = nlohmann::ordered_json;

struct Capabilities {
    std::string output_limit;    // the parameter's name; empty: no limit is sent
    int most_output_tokens = 0;  // 0: not known
    bool json_schema = false;
    bool schema_in_json_object = false;    // the older form: {"type": "json_object", "schema": ...}
    std::set<std::string> schema_without;  // keywords that its dialect of JSON Schema lacks
    bool cache_markers = false;
    nlohmann::json body;            // laid over the request: effort, thinking, ...
    std::set<std::string> dropped;  // parameters ("reasoning.effort") that it has rejected
};

// Rows of the file apply from the shortest prefix to the longest. UsageError naming the file and the row.
Capabilities capabilities_of(const std::string& provider, const std::string& model);
Capabilities capabilities_from(const std::string& text, const std::string& file, const std::string& provider,
                               const std::string& model);

// Takes all that was dropped out of a request.
void apply_drops(const Capabilities& capabilities, Body& body);

// The parameter of `body` that an error rejects by name, out of `known` ("text.format", ...) and what
// `capabilities.body` adds.
std::optional<std::string> rejected_parameter(const WireError& error, const Body& body,
                                              const Capabilities& capabilities, const std::vector<std::string>& known);

}  // namespace strop::llm
