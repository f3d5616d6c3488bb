// Google's Gemini API (generateContent).
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "llm/provider.h"
#include "llm/wire_schema.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

std::string escaped(const std::string& model) {
    std::string result;
    for (char c : model) {
        bool mark = std::string_view("-._~/").find(c) != std::string_view::npos;
        bool plain = mark || std::isalnum(static_cast<unsigned char>(c));
        result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return result;
}

// Thoughts are counted beside the candidates.
Usage usage_of(const Json& usage) {
    Usage result;
    result.known = true;
    result.input_tokens = number_at(usage, "promptTokenCount");
    result.cached_tokens = number_at(usage, "cachedContentTokenCount");
    result.reasoning_tokens = number_at(usage, "thoughtsTokenCount");
    result.output_tokens = number_at(usage, "candidatesTokenCount") + result.reasoning_tokens;
    return result;
}

void finish(const std::string& reason, Answer& answer) {
    if (reason.empty() || reason == "FINISH_REASON_UNSPECIFIED") return;
    answer.finished = true;
    if (reason == "STOP") return;
    if (reason == "MAX_TOKENS") return cut_off(answer, "the reply reached maxOutputTokens");
    if (reason.starts_with("MALFORMED") || reason.ends_with("TOOL_CALLS") || reason.ends_with("TOOL_CALL")) {
        answer.failure = Failure::malformed;
        answer.why = "the reply ended with " + reason;
        return;
    }
    refuse(answer, "the reply was stopped: " + reason);
}

Body content(const char* role, const std::string& text) {
    Body result = {{"parts", Body::array({{{"text", text}}})}};
    if (*role) result["role"] = role;
    return result;
}

class Gemini : public Protocol {
public:
    std::string url(const std::string& base, const std::string& model) const override {
        return base + "/v1beta/models/" + escaped(model) + ":streamGenerateContent?alt=sse";
    }

    std::vector<std::pair<std::string, std::string>> headers(const std::string& key) const override {
        return {{"x-goog-api-key", key}};
    }

    Body body(const Request& request, const std::string&, const Capabilities& accepts) const override {
        Body body = {{"contents", Body::array()}};
        std::string system = system_text(request, accepts);
        if (!system.empty()) body["systemInstruction"] = content("", system);
        for (const Message& message : request.messages) {
            bool user = message.author == Message::Author::user;
            body["contents"].push_back(content(user ? "user" : "model", message.content));
        }
        Body& config = body["generationConfig"];
        if (!accepts.output_limit.empty()) config[accepts.output_limit] = output_limit(request, accepts);
        if (!request.schema.empty() && accepts.json_schema) {
            config["responseMimeType"] = "application/json";
            config["responseJsonSchema"] = closed_schema(Body::parse(request.schema), accepts.schema_without);
        }
        body.merge_patch(accepts.body);
        return body;
    }

    void take(const Json& event, Answer& answer) const override {
        if (event.contains("error")) {
            answer.error = parse_stream_error(event);
            return;
        }
        if (answer.model.empty()) answer.model = string_at(event, "modelVersion");
        if (event.contains("usageMetadata")) answer.usage = usage_of(event["usageMetadata"]);
        std::string blocked = string_at(event, "promptFeedback/blockReason");
        if (!blocked.empty()) {
            answer.finished = true;
            refuse(answer, "the prompt was blocked: " + blocked);
        }
        if (!event.contains("candidates") || event["candidates"].empty()) return;
        const Json& candidate = event["candidates"][0];
        Json::json_pointer parts("/content/parts");
        if (candidate.contains(parts))
            for (const Json& part : candidate[parts])
                if (!part.value("thought", false)) answer.text += string_at(part, "text");
        finish(string_at(candidate, "finishReason"), answer);
    }

    std::string schema_path() const override { return "generationConfig.responseJsonSchema"; }
    std::vector<std::string> optional_parameters() const override { return {}; }
};

}  // namespace

std::unique_ptr<Model> make_gemini(const Spec& spec, const Connection& connection, const std::string& key) {
    Provider provider{"https://generativelanguage.googleapis.com", "GEMINI_API_KEY"};
    return make_remote(spec, connection, key, provider, std::make_unique<Gemini>());
}

}  // namespace strop::llm
