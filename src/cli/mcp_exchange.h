// One request of the Model Context Protocol over HTTP, and what is said about it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "mcp/server.h"

namespace strop::cli {

// Who destroys it cancels what it still does, and waits for that.
class McpExchange {
public:
    // `initialized`: the request is one of a session.
    McpExchange(const mcp::Service& service, mcp::Json id, bool initialized);

    const mcp::Json& id() const { return id_; }
    void ask(const std::string& message) { server_.receive(message); }
    void cancel();  // nothing more is said

    // The next message; an empty one where none comes within that time, nothing after the answer.
    std::optional<std::string> next(std::chrono::milliseconds patience);

private:
    void hear(const std::string& line);

    const mcp::Json id_;
    std::mutex mutex_;
    std::condition_variable heard_;
    std::deque<std::string> lines_;
    bool over_ = false;
    mcp::Server server_;  // the last, because its calls say lines until it is gone
};

}  // namespace strop::cli
