// What the protocols have in common: sending with retries, a streamed text, errors. A provider's own file
// holds only its protocol.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "llm/capabilities.h"
#include "llm/model.h"
#include "llm/spec.h"
#include "llm/wire_error.h"

namespace strop::llm {

// What has come of an answer so far.
struct Answer {
    std::string text, model;
    Usage usage;
    Failure failure = Failure::none;  // refused, cut_off, malformed
    std::string why;
    std::optional<WireError> error;  // after HTTP 200
    bool finished = false;           // the model has said why it stopped
    bool last = false;               // nothing of use follows
};

class Protocol {
public:
    virtual ~Protocol() = default;
    virtual std::string url(const std::string& base, const std::string& model) const = 0;
    virtual std::vector<std::pair<std::string, std::string>> headers(const std::string& key) const = 0;
    virtual Body body(const Request& request, const std::string& model, const Capabilities& accepts) const = 0;
    // One event of the stream; the exceptions of the JSON library mean that it is not of this protocol.
    virtual void take(const nlohmann::json& event, Answer& answer) const = 0;
    // Where the body says that the reply has to match a schema.
    virtual std::string schema_path() const = 0;
    // Whether some servers know schemas in another form only (Capabilities::schema_in_json_object).
    virtual bool has_older_schema_form() const { return false; }
    // Further parameters that a request can do without.
    virtual std::vector<std::string> optional_parameters() const = 0;
    // By what name to limit the output when the other was rejected; empty: this one cannot be left out.
    virtual std::string other_output_limit(const std::string&) const { return {}; }
};

struct Provider {
    std::string base_url;      // where the user gave none
    std::string key_variable;  // to tell whoever has set none
    bool needs_key = true;
};

std::unique_ptr<Model> make_remote(const Spec& spec, const Connection& connection, const std::string& key,
                                   const Provider& provider, std::unique_ptr<Protocol> protocol);

// For protocols.
int output_limit(const Request& request, const Capabilities& accepts);
// With the schema in words where it cannot be said otherwise.
std::string system_text(const Request& request, const Capabilities& accepts);
// A number of the provider's, 0 where it is missing; the path is written with slashes.
int64_t number_at(const nlohmann::json& value, const std::string& path);
std::string string_at(const nlohmann::json& value, const std::string& path);
void cut_off(Answer& answer, const std::string& why);
void refuse(Answer& answer, const std::string& why);
void add_refusal(Answer& answer, const std::string& piece);  // what the model itself says

}  // namespace strop::llm
