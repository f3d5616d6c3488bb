// HTTP/1.1 around a function that answers.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/message.h"

namespace strop::serve {

struct HttpLimits {
    size_t most_bytes = 64 << 10;  // of a request's body
    size_t threads = 8;            // that wait for requests
    size_t most_threads = 256;     // where others are held by connections that say nothing
};

class HttpServer {
public:
    using Answer = std::function<Response(const Request&)>;

    // Listens at once, and calls `answer` from several threads. Port 0: one that is free. An EnvironmentError where it
    // cannot listen.
    HttpServer(const std::string& address, int port, Answer answer, HttpLimits limits = {});
    ~HttpServer();  // when no answer is in the making any more; one in pieces ends here
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    int port() const { return port_; }

private:
    struct Library;
    std::unique_ptr<Library> library_;
    int port_ = 0;
};

}  // namespace strop::serve
