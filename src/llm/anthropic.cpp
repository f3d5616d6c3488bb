// Anthropic's Messages API.
#include "llm/provider.h"
#include "llm/wire_schema.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

// A count that is missing or null stays what it was.
void replace(int64_t& count, const Json& usage, const std::string& path) {
    Json::json_pointer pointer("/" + path);
    if (usage.contains(pointer) && usage[pointer].is_number()) count = number_at(usage, path);
}

// Counts are cumulative: a later event replaces what it names. The input comes in three parts that exclude one
// another.
void read_usage(const Json& usage, Answer& answer) {
    Usage& sum = answer.usage;
    int64_t fresh = sum.input_tokens - sum.cached_tokens - sum.cache_write_tokens;
    replace(fresh, usage, "input_tokens");
    replace(sum.cached_tokens, usage, "cache_read_input_tokens");
    replace(sum.cache_write_tokens, usage, "cache_creation_input_tokens");
    sum.input_tokens = fresh + sum.cached_tokens + sum.cache_write_tokens;
    replace(sum.output_tokens, usage, "output_tokens");
    replace(sum.reasoning_tokens, usage, "output_tokens_details/thinking_tokens");
    sum.known = true;
}

void stop(const Json& delta, Answer& answer) {
    std::string reason = string_at(delta, "stop_reason");
    if (reason.empty()) return;
    answer.finished = true;
    if (reason == "max_tokens") cut_off(answer, "the reply reached max_tokens");
    if (reason == "model_context_window_exceeded") cut_off(answer, "the context window is full");
    if (reason != "refusal") return;
    std::string category = string_at(delta, "stop_details/category");
    std::string explanation = string_at(delta, "stop_details/explanation");
    refuse(answer, "the model refused" + (category.empty() ? "" : " (" + category + ")") +
                       (explanation.empty() ? "" : ": " + explanation));
}

Body text_block(const std::string& text, bool mark) {
    Body block = {{"type", "text"}, {"text", text}};
    if (mark) block["cache_control"] = {{"type", "ephemeral"}};
    return block;
}

class Anthropic : public Protocol {
public:
    std::string url(const std::string& base, const std::string&) const override { return base + "/v1/messages"; }

    std::vector<std::pair<std::string, std::string>> headers(const std::string& key) const override {
        return {{"x-api-key", key}, {"anthropic-version", "2023-06-01"}};
    }

    Body body(const Request& request, const std::string& model, const Capabilities& accepts) const override {
        Body messages = Body::array();
        for (const Message& message : request.messages) {
            bool user = message.author == Message::Author::user;
            // The next request repeats everything up to here.
            bool mark = accepts.cache_markers && &message == &request.messages.back();
            messages.push_back(
                {{"role", user ? "user" : "assistant"}, {"content", Body::array({text_block(message.content, mark)})}});
        }
        Body body = {
            {"model", model}, {"max_tokens", output_limit(request, accepts)}, {"messages", messages}, {"stream", true}};
        std::string system = system_text(request, accepts);
        if (!system.empty()) body["system"] = Body::array({text_block(system, accepts.cache_markers)});
        if (!request.schema.empty() && accepts.json_schema) {
            Body schema = closed_schema(Body::parse(request.schema), accepts.schema_without);
            body["output_config"]["format"] = {{"type", "json_schema"}, {"schema", schema}};
        }
        body.merge_patch(accepts.body);
        return body;
    }

    void take(const Json& event, Answer& answer) const override {
        std::string type = event.value("type", "");
        if (type == "message_start") {
            answer.model = string_at(event, "message/model");
            if (event.at("message").contains("usage")) read_usage(event["message"]["usage"], answer);
        } else if (type == "content_block_start") {
            if (string_at(event, "content_block/type") == "text") answer.text += string_at(event, "content_block/text");
        } else if (type == "content_block_delta") {
            if (string_at(event, "delta/type") == "text_delta") answer.text += string_at(event, "delta/text");
        } else if (type == "message_delta") {
            if (event.contains("usage")) read_usage(event["usage"], answer);
            stop(event.at("delta"), answer);
        } else if (type == "message_stop") {
            answer.last = true;
        } else if (type == "error") {
            answer.error = parse_stream_error(event);
        }
    }

    std::string schema_path() const override { return "output_config.format"; }
    std::vector<std::string> optional_parameters() const override { return {}; }
};

}  // namespace

std::unique_ptr<Model> make_anthropic(const Spec& spec, const Connection& connection, const std::string& key) {
    Provider provider{"https://api.anthropic.com", "ANTHROPIC_API_KEY"};
    return make_remote(spec, connection, key, provider, std::make_unique<Anthropic>());
}

}  // namespace strop::llm
