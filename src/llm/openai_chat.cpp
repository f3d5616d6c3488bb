// Chat Completions: OpenAI's, and of the many servers that imitate it (llama.cpp, vLLM, Ollama, LiteLLM).
#include "llm/provider.h"
#include "llm/wire_schema.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

Usage usage_of(const Json& usage) {
    Usage result;
    result.known = true;
    result.input_tokens = number_at(usage, "prompt_tokens");
    result.cached_tokens = number_at(usage, "prompt_tokens_details/cached_tokens");
    result.cache_write_tokens = number_at(usage, "prompt_tokens_details/cache_write_tokens");
    result.output_tokens = number_at(usage, "completion_tokens");
    result.reasoning_tokens = number_at(usage, "completion_tokens_details/reasoning_tokens");
    return result;
}

void finish(const std::string& reason, Answer& answer) {
    if (reason.empty()) return;
    answer.finished = true;
    if (reason == "length") cut_off(answer, "the reply reached the limit of output tokens");
    if (reason == "content_filter") refuse(answer, "a filter stopped the reply");
}

class OpenAiChat : public Protocol {
public:
    std::string url(const std::string& base, const std::string&) const override { return base + "/chat/completions"; }

    std::vector<std::pair<std::string, std::string>> headers(const std::string& key) const override {
        if (key.empty()) return {};
        return {{"Authorization", "Bearer " + key}};
    }

    Body body(const Request& request, const std::string& model, const Capabilities& accepts) const override {
        Body messages = Body::array();
        std::string system = system_text(request, accepts);
        if (!system.empty()) messages.push_back({{"role", "system"}, {"content", system}});
        for (const Message& message : request.messages) {
            bool user = message.author == Message::Author::user;
            messages.push_back({{"role", user ? "user" : "assistant"}, {"content", message.content}});
        }
        Body body = {
            {"model", model}, {"messages", messages}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
        if (!accepts.output_limit.empty()) body[accepts.output_limit] = output_limit(request, accepts);
        if (!request.schema.empty() && accepts.json_schema) {
            Body schema = closed_schema(Body::parse(request.schema), accepts.schema_without);
            if (accepts.schema_in_json_object) body["response_format"] = {{"type", "json_object"}, {"schema", schema}};
            else
                body["response_format"] = {
                    {"type", "json_schema"},
                    {"json_schema",
                     {{"name", request.schema_name}, {"strict", requires_all(schema)}, {"schema", schema}}}};
        }
        body.merge_patch(accepts.body);
        return body;
    }

    void take(const Json& event, Answer& answer) const override {
        if (event.contains("error") && !event["error"].is_null()) {
            answer.error = parse_stream_error(event);
            return;
        }
        if (answer.model.empty()) answer.model = string_at(event, "model");
        if (event.contains("usage") && event["usage"].is_object()) answer.usage = usage_of(event["usage"]);
        if (!event.contains("choices") || !event["choices"].is_array() || event["choices"].empty()) return;
        const Json& choice = event["choices"][0];
        // A server that does not stream sends the whole message.
        for (const char* part : {"delta", "message"}) {
            answer.text += string_at(choice, std::string(part) + "/content");
            std::string refusal = string_at(choice, std::string(part) + "/refusal");
            if (!refusal.empty()) add_refusal(answer, refusal);
        }
        finish(string_at(choice, "finish_reason"), answer);
    }

    std::string schema_path() const override { return "response_format"; }
    bool has_older_schema_form() const override { return true; }
    std::vector<std::string> optional_parameters() const override { return {"stream_options"}; }
    std::string other_output_limit(const std::string& rejected) const override {
        return rejected == "max_tokens" ? "max_completion_tokens" : "max_tokens";
    }
};

}  // namespace

std::unique_ptr<Model> make_openai_chat(const Spec& spec, const Connection& connection, const std::string& key) {
    Provider provider{"https://api.openai.com/v1", "OPENAI_API_KEY"};
    if (spec.provider == "compatible") provider = {"", "STROP_API_KEY", false};
    return make_remote(spec, connection, key, provider, std::make_unique<OpenAiChat>());
}

}  // namespace strop::llm
