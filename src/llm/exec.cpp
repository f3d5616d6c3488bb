// A model behind a command of the user's: one JSON document in, text out. Any agent can be put behind it.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/strings.h"
#include "llm/spec.h"
#include "llm/text.h"
#include "sandbox/environment.h"
#include "sandbox/process.h"

namespace strop::llm {

namespace {

using nlohmann::json;

constexpr int64_t most_output = int64_t{16} << 20;
constexpr int cannot_execute = 126, not_found = 127;  // as sh says it

std::string document_of(const Request& request) {
    nlohmann::ordered_json document;
    document["role"] = request.role;
    document["system"] = request.system;
    document["messages"] = nlohmann::ordered_json::array();
    for (const Message& message : request.messages)
        document["messages"].push_back(
            {{"role", message.author == Message::Author::user ? "user" : "assistant"}, {"content", message.content}});
    auto schema = nlohmann::ordered_json::parse(request.schema, nullptr, false);
    document["schema"] = schema.is_object() ? schema : nlohmann::ordered_json(nullptr);
    document["max_output_tokens"] = request.max_output_tokens;
    return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string last_line(const std::string& text) {
    std::string_view rest = trim(text);
    return one_line(rest.substr(rest.rfind('\n') + 1), 200);
}

int64_t count_of(const json& usage, const char* key) {
    auto found = usage.find(key);
    constexpr uint64_t most = uint64_t{1} << 50;
    bool sane = found != usage.end() && found->is_number_unsigned() && found->get<uint64_t>() < most;
    return sane ? found->get<int64_t>() : -1;
}

void take_usage(const json& usage, Usage& into) {
    if (!usage.is_object()) return;
    int64_t input = count_of(usage, "input_tokens"), output = count_of(usage, "output_tokens");
    if (input < 0 || output < 0) return;
    into.input_tokens = input;
    into.output_tokens = output;
    into.cached_tokens = std::clamp<int64_t>(count_of(usage, "cached_tokens"), 0, input);
    into.reasoning_tokens = std::clamp<int64_t>(count_of(usage, "reasoning_tokens"), 0, output);
    into.known = true;
}

// {"text", "usage", "model"} and nothing else is our form; any other text, JSON included, is the reply itself.
bool is_envelope(const json& document) {
    if (!document.is_object() || !document.contains("text") || !document["text"].is_string()) return false;
    for (const auto& [key, value] : document.items())
        if (key != "text" && key != "usage" && key != "model") return false;
    return true;
}

void take_output(const std::string& out, Reply& reply) {
    json document = json::parse(out, nullptr, false);
    if (!is_envelope(document)) {
        reply.text = valid_utf8(out);
    } else {
        reply.text = document["text"].get<std::string>();
        if (auto model = document.find("model"); model != document.end() && model->is_string())
            reply.model = one_line(model->get<std::string>(), 200);
        if (auto usage = document.find("usage"); usage != document.end()) take_usage(*usage, reply.usage);
    }
    if (trim(reply.text).empty()) {
        reply.failure = Failure::empty;
        reply.why = "the command wrote nothing";
    }
}

class ExecModel : public Model {
public:
    ExecModel(const Spec& spec, const Connection& connection)
        : name_("exec:" + spec.model),
          timeout_(connection.timeout) {
        command_.argv = {"/bin/sh", "-c", spec.model};
        // The user's own: the command may be an agent with settings and keys of its own.
        command_.environment = sandbox::own_environment();
        command_.limits.wall = timeout_;
        command_.limits.output_bytes = most_output;
    }

    const std::string& name() const override { return name_; }

    Reply ask(const Request& request, const Cancel& cancel) override {
        Reply reply;
        reply.model = name_;
        if (cancel && cancel()) return failed(reply, Failure::cancelled, "cancelled before it began");
        try {
            sandbox::Finished finished = sandbox::run(command_, document_of(request), cancel);
            reply.seconds = finished.seconds;
            return take(finished, reply);
        } catch (const EnvironmentError& error) {
            return failed(reply, Failure::network, one_line(error.what(), 300));
        }
    }

private:
    static Reply failed(Reply& reply, Failure failure, const std::string& why) {
        reply.failure = failure;
        reply.why = why;
        return reply;
    }

    Reply take(const sandbox::Finished& finished, Reply& reply) const {
        if (finished.stopped) return failed(reply, Failure::cancelled, "cancelled");
        if (finished.timed_out)
            return failed(reply, Failure::timed_out,
                          fmt::format("the command took longer than {:.3g} s", timeout_.count()));
        std::string said = last_line(finished.err);
        std::string tail = said.empty() ? "" : ": " + said;
        // Nothing was asked, so a resumed run may ask again: no connection, as far as anyone above is concerned.
        if (finished.exit_code == not_found) return failed(reply, Failure::network, "the command was not found" + tail);
        if (finished.exit_code == cannot_execute)
            return failed(reply, Failure::network, "the command cannot be executed" + tail);
        if (!finished.ok())
            return failed(reply, Failure::rejected,
                          fmt::format("the command ended with {}{}", finished.describe(), tail));
        take_output(finished.out, reply);
        if (static_cast<int64_t>(finished.out.size()) >= most_output)
            return failed(reply, Failure::cut_off,
                          fmt::format("the command wrote {} or more", human_bytes(most_output)));
        return reply;
    }

    std::string name_;
    Seconds timeout_;
    sandbox::Command command_;
};

}  // namespace

std::unique_ptr<Model> make_exec(const Spec& spec, const Connection& connection) {
    return std::make_unique<ExecModel>(spec, connection);
}

}  // namespace strop::llm
