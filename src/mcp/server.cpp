#include "mcp/server.h"

#include <atomic>
#include <istream>
#include <ostream>

#include "base/error.h"
#include "mcp/version.h"

namespace strop::mcp {

namespace {

constexpr int list_lives_ms = 60'000;

Json capabilities() { return {{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}}; }

std::string text_of(const Json& params, const char* key) {
    if (!params.contains(key) || !params[key].is_string())
        throw ProtocolError(invalid_params, std::string("'") + key + "' is not a text");
    return params[key];
}

const Tool& tool_named(const Service& service, const std::string& name) {
    for (const Tool& tool : service.tools)
        if (tool.name == name) return tool;
    throw ProtocolError(invalid_params, "there is no tool '" + name + "'");
}

Json list_tools(const Service& service) {
    Json list = Json::array();
    for (const Tool& tool : service.tools) {
        Json entry = {{"name", tool.name},
                      {"title", tool.title},
                      {"description", tool.description},
                      {"inputSchema", tool.input_schema},
                      {"annotations", {{"readOnlyHint", tool.read_only}}}};
        if (!tool.output_schema.is_null()) entry["outputSchema"] = tool.output_schema;
        list.push_back(entry);
    }
    return {{"tools", list}};
}

Json list_resources(const Service& service) {
    Json list = Json::array();
    for (const Resource& resource : service.resources())
        list.push_back({{"uri", resource.uri},
                        {"name", resource.name},
                        {"description", resource.description},
                        {"mimeType", resource.mime_type}});
    return {{"resources", list}};
}

Json read_resource(const Service& service, const Json& params) {
    const std::string uri = text_of(params, "uri");
    try {
        const std::string text = service.read(uri);
        return {{"contents", Json::array({{{"uri", uri}, {"mimeType", "text/markdown"}, {"text", text}}})}};
    } catch (const Error& error) {
        throw ProtocolError(resource_not_found, error.what(), {{"uri", uri}});
    }
}

Json list_prompts(const Service& service) {
    Json list = Json::array();
    for (const Prompt& prompt : service.prompts) {
        Json arguments = Json::array();
        for (const std::string& name : prompt.arguments) arguments.push_back({{"name", name}, {"required", true}});
        list.push_back({{"name", prompt.name}, {"description", prompt.description}, {"arguments", arguments}});
    }
    return {{"prompts", list}};
}

Json get_prompt(const Service& service, const Json& params) {
    const std::string name = text_of(params, "name");
    for (const Prompt& prompt : service.prompts) {
        if (prompt.name != name) continue;
        const Json arguments = params.value("arguments", Json::object());
        for (const std::string& argument : prompt.arguments) text_of(arguments, argument.c_str());
        try {
            Json content = {{"type", "text"}, {"text", prompt.text(arguments)}};
            return {{"description", prompt.description},
                    {"messages", Json::array({{{"role", "user"}, {"content", content}}})}};
        } catch (const Error& error) {
            throw ProtocolError(invalid_params, error.what());
        }
    }
    throw ProtocolError(invalid_params, "there is no prompt '" + name + "'");
}

Json to_json(const Answer& answer) {
    Json result = {{"content", Json::array({{{"type", "text"}, {"text", answer.text}}})}, {"isError", answer.failed}};
    if (!answer.structured.is_null()) result["structuredContent"] = answer.structured;
    return result;
}

}  // namespace

// One call of a tool, on a thread of its own.
struct Server::Running : Call {
    Running(Server& server, const Message& message, bool modern) : server_(server), id_(message.id), modern_(modern) {
        const Json meta = message.params.value("_meta", Json::object());
        if (meta.is_object()) token_ = meta.value("progressToken", Json());
    }

    bool cancelled() const override { return cancelled_; }

    void progress(const std::string& message) override {
        if (token_.is_null() || cancelled_) return;
        server_.say(notification_line("notifications/progress",
                                      {{"progressToken", token_}, {"progress", ++steps_}, {"message", message}}));
    }

    void start(const Tool& tool, const Json& arguments) {
        thread_ = std::thread([this, &tool, arguments] {
            std::string line;
            try {
                Json result = to_json(tool.run(arguments, *this));
                if (modern_) result["resultType"] = "complete";
                line = result_line(id_, result);
            } catch (const ProtocolError& error) {
                line = error_line(id_, error);
            } catch (const std::exception& error) {
                line = error_line(id_, ProtocolError(internal_error, error.what()));
            }
            ended_ = true;                       // whoever reads the answer may use its id again
            if (!cancelled_) server_.say(line);  // nobody hears of what was cancelled
        });
    }

    void cancel() { cancelled_ = true; }
    bool ended() const { return ended_; }
    void join() {
        if (thread_.joinable()) thread_.join();
    }

private:
    Server& server_;
    Json id_, token_;
    bool modern_;
    int steps_ = 0;
    std::atomic<bool> cancelled_ = false, ended_ = false;
    std::thread thread_;
};

Server::Server(const Service& service, std::function<void(const std::string&)> send, bool initialized)
    : service_(service),
      send_(std::move(send)),
      initialized_(initialized) {}

Server::~Server() {
    cancel_all();
    finish();
}

void Server::cancel_all() {
    std::lock_guard lock(calls_);
    for (auto& [id, running] : running_) running->cancel();
}

void Server::finish() {
    std::lock_guard lock(calls_);
    for (auto& [id, running] : running_) running->join();
    running_.clear();
}

void Server::say(const std::string& line) {
    std::lock_guard lock(sending_);
    send_(line);
}

void Server::forget_ended() {
    std::lock_guard lock(calls_);
    std::erase_if(running_, [](auto& entry) {
        if (!entry.second->ended()) return false;
        entry.second->join();
        return true;
    });
}

void Server::receive(const std::string& line) {
    forget_ended();
    Json id;
    try {
        const Message message = read_message(line, id);
        if (message.method.empty()) return;  // we ask clients nothing
        if (message.notification()) {
            if (message.method == "notifications/cancelled") cancel(message.params);
            return;
        }
        answer(message);
    } catch (const ProtocolError& error) {
        say(error_line(id, error));
    } catch (const std::exception& error) {
        say(error_line(id, ProtocolError(internal_error, error.what())));
    }
}

bool Server::modern(const Message& message) const {
    const Json meta = message.params.value("_meta", Json::object());
    if (!meta.is_object()) throw ProtocolError(invalid_params, "'_meta' is not an object");
    if (!meta.contains(version_key)) {
        if (initialized_ || message.method == "initialize" || message.method == "ping") return false;
        throw ProtocolError(invalid_params, std::string("params._meta has no '") + version_key + "'");
    }
    if (meta[version_key] == modern_version) return true;
    if (initialized_ && meta[version_key].is_string() && is_legacy(meta[version_key])) return false;
    throw unknown_version(meta[version_key]);
}

void Server::answer(const Message& message) {
    const bool new_era = modern(message);
    if (message.method == "tools/call") return start_tool(message, new_era);
    Json result = result_of(message, new_era);
    if (message.method == "initialize") initialized_ = true;
    if (new_era) {
        result["resultType"] = "complete";
        if (message.method != "prompts/get") {
            result["ttlMs"] = list_lives_ms;
            result["cacheScope"] = "private";
        }
    }
    say(result_line(message.id, result));
}

Json Server::result_of(const Message& message, bool new_era) {
    const std::string& method = message.method;
    if (method == "tools/list") return list_tools(service_);
    if (method == "resources/list") return list_resources(service_);
    if (method == "resources/templates/list") return {{"resourceTemplates", Json::array()}};
    if (method == "resources/read") return read_resource(service_, message.params);
    if (method == "prompts/list") return list_prompts(service_);
    if (method == "prompts/get") return get_prompt(service_, message.params);
    if (new_era && method == "server/discover")
        return {{"supportedVersions", versions()},
                {"capabilities", capabilities()},
                {"serverInfo", {{"name", service_.name}, {"version", service_.version}}},
                {"instructions", service_.instructions}};
    if (!new_era && method == "ping") return Json::object();
    if (!new_era && method == "initialize") {
        const Json asked = message.params.value("protocolVersion", Json());
        const bool known = asked.is_string() && is_legacy(asked);
        return {{"protocolVersion", known ? asked : Json(legacy_versions.front())},
                {"capabilities", capabilities()},
                {"serverInfo", {{"name", service_.name}, {"version", service_.version}}},
                {"instructions", service_.instructions}};
    }
    throw ProtocolError(method_not_found, "there is no method '" + method + "'");
}

void Server::start_tool(const Message& message, bool new_era) {
    const Tool& tool = tool_named(service_, text_of(message.params, "name"));
    const Json arguments = message.params.value("arguments", Json::object());
    if (!arguments.is_object()) throw ProtocolError(invalid_params, "'arguments' is not an object");
    std::lock_guard lock(calls_);
    auto [place, fresh] = running_.emplace(message.id.dump(), nullptr);
    if (!fresh) throw ProtocolError(invalid_request, "a call with this id is running");
    place->second = std::make_unique<Running>(*this, message, new_era);
    place->second->start(tool, arguments);
}

void Server::cancel(const Json& params) {
    std::lock_guard lock(calls_);
    auto found = running_.find(params.value("requestId", Json()).dump());
    if (found != running_.end()) found->second->cancel();
}

void serve(const Service& service, std::istream& in, std::ostream& out) {
    Server server(service, [&](const std::string& line) { out << line << std::endl; });
    for (std::string line; std::getline(in, line);)
        if (line.find_first_not_of(" \t\r") != std::string::npos) server.receive(line);
}

}  // namespace strop::mcp
