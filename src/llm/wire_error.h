// What a provider says when it does not answer, in whichever of their forms, and what that means.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "llm/model.h"

namespace strop::llm {

struct WireError {
    int status = 0;       // of HTTP; of an error inside a stream the one it would have had
    std::string code;     // the most exact name given: "insufficient_quota", "overloaded_error", "UNAVAILABLE"
    std::string message;  // as sent: may hold anything
    std::string param;    // "reasoning.effort"; empty: not said
    std::optional<double> retry_delay;  // seconds, where the body says so
};

// Never fails: a page of HTML or an empty body is an error, too.
WireError parse_error(int status, const std::string& body);
// An error inside a stream: its object, or one that holds it as `error`.
WireError parse_stream_error(const nlohmann::json& value);

Failure failure_of(const WireError& error);

// Money is missing or an owner's limit is reached: waiting does not help.
bool is_final(const WireError& error);

// Valid UTF-8 in one line of at most 300 characters, without the key.
std::string one_line(const std::string& text, const std::string& key);
std::string redact(std::string text, const std::string& key);

}  // namespace strop::llm
