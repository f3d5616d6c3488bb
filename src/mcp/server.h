// A server of the Model Context Protocol, of both eras: 2025-11-25 and before, where a connection begins with
// `initialize`, and 2026-07-28, where each request names its version and `server/discover` says what there is.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "mcp/message.h"
#include "mcp/service.h"

namespace strop::mcp {

class Server {
public:
    // `send` writes one line to the client; it is called by one thread at a time. `initialized`: this goes on with a
    // connection whose `initialize` another one answered.
    Server(const Service& service, std::function<void(const std::string& line)> send, bool initialized = false);
    ~Server();  // cancels what still runs and waits for it
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Tools run on threads of their own; everything else is answered before this returns.
    void receive(const std::string& line);

    void cancel_all();  // nothing more is said of the calls that run
    void finish();      // waits until every call was answered

private:
    struct Running;
    void answer(const Message& message);
    Json result_of(const Message& message, bool modern);
    bool modern(const Message& message) const;
    void start_tool(const Message& message, bool modern);
    void cancel(const Json& params);
    void say(const std::string& line);
    void forget_ended();

    const Service& service_;
    std::function<void(const std::string&)> send_;
    std::mutex sending_;
    std::mutex calls_;
    std::map<std::string, std::unique_ptr<Running>> running_;  // by id, as JSON
    bool initialized_;
};

// Over standard input and output: one message per line, until the input ends.
void serve(const Service& service, std::istream& in, std::ostream& out);

}  // namespace strop::mcp
