// The Model Context Protocol over HTTP ("Streamable HTTP"), apart from sockets: one address that is asked with POST and
// answers with a document or, where a tool is called, with a stream of events. Versions up to 2025-11-25 have sessions;
// in 2026-07-28 each request stands for itself.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/mcp_exchange.h"
#include "mcp/service.h"
#include "serve/access.h"

namespace strop::cli {

inline constexpr const char* mcp_path = "/mcp";
inline constexpr size_t most_mcp_calls = 32;  // of tools, at the same time

// Safe to use from several threads.
class McpEndpoint {
public:
    McpEndpoint(const mcp::Service& service, serve::Access access) : service_(service), access_(std::move(access)) {}

    serve::Response answer(const serve::Request& request);
    void stop();  // cancels all calls, and takes no more

private:
    struct Running {
        std::string session;
        std::weak_ptr<McpExchange> exchange;
    };
    using Exchanges = std::vector<std::shared_ptr<McpExchange>>;

    serve::Response routed(const serve::Request& request);
    serve::Response posted(const serve::Request& request);
    serve::Response received(const serve::Request& request, const mcp::Message& message);
    serve::Response ended(const serve::Request& request);
    serve::Response begun(const mcp::Message& message, const std::string& body);
    serve::Response streamed(const mcp::Message& message, const std::string& body, const std::string& session);
    void use_session(const std::string& session);
    void cancel(const std::string& session, const mcp::Json& id);
    Exchanges running_of(const std::string& session);
    void add(const std::string& session, const std::shared_ptr<McpExchange>& exchange);

    const mcp::Service& service_;
    const serve::Access access_;
    std::mutex mutex_;
    std::map<std::string, uint64_t> sessions_;  // and when each was used last, in requests
    uint64_t uses_ = 0;
    std::vector<Running> running_;
    bool stopped_ = false;
};

}  // namespace strop::cli
