// A language model: one request, one reply. Expected failures (no key, a refusal, a cut-off reply) are data.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace strop::llm {

struct Message {
    enum class Author { user, assistant };
    Author author = Author::user;
    std::string content;
};

// Messages only grow: a stable prefix is what providers cache.
struct Request {
    std::string role;  // "planner", "coder", ...: who asks
    std::string system;
    std::vector<Message> messages;
    std::string schema_name;        // of the JSON Schema, [a-z_]
    std::string schema;             // JSON Schema text that the reply has to match; empty: plain text
    int max_output_tokens = 16000;  // reasoning included
};

// As the provider counts, brought to one form: input_tokens holds all of the input, the cached part included;
// output_tokens holds reasoning.
struct Usage {
    int64_t input_tokens = 0, cached_tokens = 0, cache_write_tokens = 0;
    int64_t output_tokens = 0, reasoning_tokens = 0;
    bool known = false;  // false: the provider did not say, these are estimates
};

enum class Failure {
    none,
    no_key,        // nothing was sent
    rejected,      // the request is unacceptable (400, 404, 413, 422)
    denied,        // authentication, permission, no credit left, a spending limit of theirs
    rate_limited,  // and so after all retries
    overloaded,    // 5xx, 529, and so after all retries
    network,       // no connection, or one that broke
    timed_out,
    cancelled,
    refused,       // by the model or a filter
    cut_off,       // at max_output_tokens; `text` holds what came
    empty,         // no text
    malformed,     // not the provider's protocol
    over_limit,    // our own limit of cost or tokens; nothing was sent
    not_recorded,  // a replay has no reply to this request
};
std::string name_of(Failure failure);

struct Reply {
    Failure failure = Failure::none;
    std::string why;  // one lower-case line, never with a key in it; empty when all went well
    std::string text;
    Usage usage;
    std::string model;   // as the provider names it
    double seconds = 0;  // wall time, retries included
    int retries = 0;
    bool ok() const { return failure == Failure::none; }
};

// Set to stop a call in flight: it comes back as `cancelled` within a second.
using Cancel = std::function<bool()>;

class Model {
public:
    virtual ~Model() = default;
    virtual const std::string& name() const = 0;  // as the user wrote it: "openai/gpt-6", "exec:./relay"
    // Blocks. May be called from several threads at a time.
    virtual Reply ask(const Request& request, const Cancel& cancel = {}) = 0;
};

}  // namespace strop::llm
