#include "cli/mcp_endpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/mcp_headers.h"
#include "mcp/version.h"

namespace strop::cli {

namespace {

using mcp::Json;
using mcp::ProtocolError;
using serve::Request;
using serve::Response;

constexpr const char* session_header = "mcp-session-id";
constexpr size_t most_sessions = 1000;
constexpr std::chrono::milliseconds between_looks{100};  // at whether the client is still there
constexpr int looks_between_signs = 150;                 // of life, without which proxies close a stream

// Ends a request with this status.
struct Refused {
    int status;
    ProtocolError error;
};

Response document(int status, const std::string& text) { return {status, "application/json", text}; }
Response nothing(int status) { return {status, "", ""}; }

Refused refused(int status, mcp::ErrorCode code, const std::string& words) { return {status, {code, words}}; }

// Before 2026-07-28 the status speaks of the transport alone.
int status_of(const Json& answer, bool modern) {
    if (!modern || !answer.contains("error")) return 200;
    switch (answer["error"].value("code", 0)) {
        case mcp::method_not_found: return 404;
        case mcp::invalid_request:
        case mcp::invalid_params:
        case mcp::unsupported_version: return 400;
        default: return 200;
    }
}

// A request that is answered before `ask` returns.
std::string answered(McpExchange& exchange, const std::string& body) {
    exchange.ask(body);
    return exchange.next(between_looks).value_or("");
}

}  // namespace

Response McpEndpoint::answer(const Request& request) {
    Response response;
    if (std::optional<Response> refusal = serve::refusal(access_, request)) response = *std::move(refusal);
    else response = routed(request);
    response.headers.emplace("Cache-Control", "no-store");
    response.headers["X-Content-Type-Options"] = "nosniff";
    return response;
}

Response McpEndpoint::routed(const Request& request) {
    if (request.path != mcp_path) return serve::plain_text(404, fmt::format("the protocol is spoken at {}", mcp_path));
    if (request.method == "POST") return posted(request);
    if (request.method == "DELETE" && !mcp_modern(request)) return ended(request);
    Response response = serve::plain_text(405, "messages are sent with POST; nothing is said unasked");
    response.headers["Allow"] = "POST, DELETE";
    return response;
}

Response McpEndpoint::posted(const Request& request) {
    if (!mcp_sends_json(request)) return serve::plain_text(415, "a message is application/json");
    if (!mcp_accepts_answers(request))
        return serve::plain_text(406, "accept application/json and text/event-stream: an answer is either");
    Json id;
    try {
        const mcp::Message message = mcp::read_message(request.body, id);
        mcp_check_headers(request, message);
        return received(request, message);
    } catch (const ProtocolError& error) {
        return document(400, mcp::error_line(id, error));
    } catch (const Refused& no) {
        return document(no.status, mcp::error_line(id, no.error));
    }
}

Response McpEndpoint::received(const Request& request, const mcp::Message& message) {
    const bool modern = mcp_modern(request);
    const std::string session = modern ? "" : request.header(session_header);
    const bool begins = !modern && message.method == "initialize" && !message.notification();
    if (begins) return begun(message, request.body);
    if (!modern) use_session(session);
    if (message.notification() || message.method.empty()) {
        if (!modern && message.method == "notifications/cancelled")
            cancel(session, message.params.value("requestId", Json()));
        return nothing(202);
    }
    if (message.method == "tools/call") return streamed(message, request.body, session);
    McpExchange exchange(service_, message.id, !modern);
    const std::string line = answered(exchange, request.body);
    return document(status_of(Json::parse(line), modern), line);
}

Response McpEndpoint::begun(const mcp::Message& message, const std::string& body) {
    McpExchange exchange(service_, message.id, false);
    Response response = document(200, answered(exchange, body));
    if (!Json::parse(response.body).contains("result")) return response;
    const std::string session = serve::random_token();
    response.headers["Mcp-Session-Id"] = session;
    std::lock_guard lock(mutex_);
    if (sessions_.size() >= most_sessions)
        sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(),
                                         [](const auto& one, const auto& other) { return one.second < other.second; }));
    sessions_[session] = ++uses_;
    return response;
}

Response McpEndpoint::streamed(const mcp::Message& message, const std::string& body, const std::string& session) {
    auto exchange = std::make_shared<McpExchange>(service_, message.id, !session.empty());
    add(session, exchange);
    exchange->ask(body);
    Response response{200, "text/event-stream", "", {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
    response.next = [exchange, looks = 0]() mutable -> std::optional<std::string> {
        const std::optional<std::string> line = exchange->next(between_looks);
        if (!line) return {};
        if (line->empty()) return ++looks % looks_between_signs == 0 ? ": at work\n\n" : "";
        return "event: message\ndata: " + *line + "\n\n";
    };
    return response;
}

Response McpEndpoint::ended(const Request& request) {
    const std::string session = request.header(session_header);
    try {
        use_session(session);
    } catch (const Refused& no) {
        return document(no.status, mcp::error_line(nullptr, no.error));
    }
    for (const std::shared_ptr<McpExchange>& exchange : running_of(session)) exchange->cancel();
    std::lock_guard lock(mutex_);
    sessions_.erase(session);
    return nothing(204);
}

void McpEndpoint::stop() {
    {
        std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    for (const Running& running : running_)  // which nobody adds to any more
        if (std::shared_ptr<McpExchange> exchange = running.exchange.lock()) exchange->cancel();
}

void McpEndpoint::use_session(const std::string& session) {
    if (session.empty())
        throw refused(400, mcp::invalid_request, "the request has no Mcp-Session-Id: initialize first");
    std::lock_guard lock(mutex_);
    auto found = sessions_.find(session);
    if (found == sessions_.end())
        throw refused(404, mcp::invalid_request, "there is no such session, or it has ended: initialize again");
    found->second = ++uses_;
}

void McpEndpoint::cancel(const std::string& session, const Json& id) {
    for (const std::shared_ptr<McpExchange>& exchange : running_of(session))
        if (exchange->id() == id) exchange->cancel();
}

McpEndpoint::Exchanges McpEndpoint::running_of(const std::string& session) {
    std::lock_guard lock(mutex_);
    Exchanges exchanges;
    for (const Running& running : running_)
        if (running.session == session)
            if (std::shared_ptr<McpExchange> exchange = running.exchange.lock()) exchanges.push_back(exchange);
    return exchanges;
}

void McpEndpoint::add(const std::string& session, const std::shared_ptr<McpExchange>& exchange) {
    std::lock_guard lock(mutex_);
    if (stopped_) throw refused(503, mcp::internal_error, "the server ends");
    std::erase_if(running_, [](const Running& running) { return running.exchange.expired(); });
    if (running_.size() >= most_mcp_calls)
        throw refused(503, mcp::internal_error, fmt::format("{} calls run already", most_mcp_calls));
    running_.push_back({session, exchange});
}

}  // namespace strop::cli
