// OpenAI's Responses API.
#include "llm/provider.h"
#include "llm/wire_schema.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

Usage usage_of(const Json& usage) {
    Usage result;
    result.known = usage.is_object();
    result.input_tokens = number_at(usage, "input_tokens");
    result.cached_tokens = number_at(usage, "input_tokens_details/cached_tokens");
    result.cache_write_tokens = number_at(usage, "input_tokens_details/cache_write_tokens");
    result.output_tokens = number_at(usage, "output_tokens");
    result.reasoning_tokens = number_at(usage, "output_tokens_details/reasoning_tokens");
    return result;
}

// The response as a whole, which the last event repeats.
void conclude(const Json& response, Answer& answer) {
    answer.finished = answer.last = true;
    if (response.contains("usage")) answer.usage = usage_of(response["usage"]);
    std::string reason = string_at(response, "incomplete_details/reason");
    if (reason == "content_filter") return refuse(answer, "a filter stopped the reply");
    if (string_at(response, "status") == "incomplete")
        return cut_off(answer, reason == "max_output_tokens" ? "the reply reached max_output_tokens"
                                                             : "the reply is incomplete: " + reason);
}

void fail(const Json& error, Answer& answer) { answer.error = parse_stream_error(error); }

class OpenAiResponses : public Protocol {
public:
    std::string url(const std::string& base, const std::string&) const override { return base + "/responses"; }

    std::vector<std::pair<std::string, std::string>> headers(const std::string& key) const override {
        return {{"Authorization", "Bearer " + key}};
    }

    Body body(const Request& request, const std::string& model, const Capabilities& accepts) const override {
        Body body = {{"model", model}, {"stream", true}, {"store", false}, {"input", Body::array()}};
        std::string system = system_text(request, accepts);
        if (!system.empty()) body["instructions"] = system;
        for (const Message& message : request.messages) {
            bool user = message.author == Message::Author::user;
            body["input"].push_back({{"role", user ? "user" : "assistant"}, {"content", message.content}});
        }
        if (!accepts.output_limit.empty()) body[accepts.output_limit] = output_limit(request, accepts);
        if (!request.schema.empty() && accepts.json_schema) {
            Body schema = closed_schema(Body::parse(request.schema), accepts.schema_without);
            body["text"]["format"] = {{"type", "json_schema"},
                                      {"name", request.schema_name},
                                      {"strict", requires_all(schema)},
                                      {"schema", schema}};
        }
        body.merge_patch(accepts.body);
        return body;
    }

    void take(const Json& event, Answer& answer) const override {
        std::string type = event.value("type", "");
        if (type == "response.output_text.delta") {
            answer.text += string_at(event, "delta");
        } else if (type == "response.refusal.delta") {
            add_refusal(answer, string_at(event, "delta"));
        } else if (type == "response.created") {
            answer.model = string_at(event, "response/model");
        } else if (type == "response.completed" || type == "response.incomplete") {
            conclude(event.at("response"), answer);
        } else if (type == "response.failed") {
            fail(event.at("response").at("error"), answer);
        } else if (type == "error") {
            fail(event, answer);
        }
    }

    std::string schema_path() const override { return "text.format"; }
    std::vector<std::string> optional_parameters() const override { return {"store"}; }
};

}  // namespace

std::unique_ptr<Model> make_openai_responses(const Spec& spec, const Connection& connection, const std::string& key) {
    Provider provider{"https://api.openai.com/v1", "OPENAI_API_KEY"};
    return make_remote(spec, connection, key, provider, std::make_unique<OpenAiResponses>());
}

}  // namespace strop::llm
