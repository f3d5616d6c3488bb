#include "serve/http_server.h"

#include <cerrno>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::serve {

namespace {

constexpr std::chrono::seconds patience{5};

Request to_request(const httplib::Request& received) {
    Request request{received.method == "HEAD" ? "GET" : received.method, received.path, {}, {}, received.body};
    for (const auto& [name, value] : received.params) request.fields.emplace(name, value);
    for (const auto& [name, value] : received.headers) {
        auto [place, fresh] = request.headers.emplace(lower(name), value);
        if (!fresh) place->second += ", " + value;
    }
    return request;
}

void send_pieces(const Response& response, httplib::Response& sent) {
    sent.set_chunked_content_provider(response.type, [next = response.next](size_t, httplib::DataSink& sink) {
        if (!sink.is_writable()) return false;  // nobody listens any more
        const std::optional<std::string> piece = next();
        if (!piece) sink.done();
        return !piece || piece->empty() || sink.write(piece->data(), piece->size());
    });
}

void send(const Response& response, httplib::Response& sent) {
    sent.status = response.status;
    for (const auto& [name, value] : response.headers) sent.set_header(name, value);
    if (response.next) return send_pieces(response, sent);
    if (!response.body.empty()) sent.set_content(response.body, response.type);
}

// Only a body whose length is known is read, by the library, before the request is answered: it would read any other
// one to its end, which need not come.
httplib::Server::HandlerResponse answer_at_once(const HttpServer::Answer& answer, const httplib::Request& received,
                                                httplib::Response& sent) {
    if (received.has_header("Transfer-Encoding")) send(plain_text(411, "say the length of the body"), sent);
    else if (received.has_header("Content-Length")) return httplib::Server::HandlerResponse::Unhandled;
    else send(answer(to_request(received)), sent);
    return httplib::Server::HandlerResponse::Handled;
}

// Another one that listens there keeps its port; the library's standard options would share it.
void allow_quick_restart(int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

[[noreturn]] void fail(const std::string& address, int port) {
    const int why = errno;
    throw EnvironmentError(fmt::format("{}:{}: {}", address, port,
                                       why == EADDRINUSE ? "another program listens there"
                                       : why == 0        ? "is not an address of this machine"
                                                         : fmt::format("cannot listen there: {}", std::strerror(why))),
                           "choose another --port (0: any that is free) or --host");
}

}  // namespace

struct HttpServer::Library {
    httplib::Server server;
    std::thread listener;
};

HttpServer::HttpServer(const std::string& address, int port, Answer answer, HttpLimits limits)
    : library_(std::make_unique<Library>()) {
    httplib::Server& server = library_->server;
    const auto handler = [answer](const httplib::Request& received, httplib::Response& sent) {
        send(answer(to_request(received)), sent);
    };
    const char* everything = R"([\s\S]*)";
    server.Get(everything, handler).Post(everything, handler).Put(everything, handler).Patch(everything, handler);
    server.Delete(everything, handler).Options(everything, handler);
    server.set_pre_routing_handler([answer](const httplib::Request& received, httplib::Response& sent) {
        return answer_at_once(answer, received, sent);
    });
    server.set_socket_options(allow_quick_restart);
    server.set_payload_max_length(limits.most_bytes);
    server.set_read_timeout(patience);
    server.set_keep_alive_max_count(1);  // what was not read of one request is not taken for the next
    server.new_task_queue = [threads = limits.threads] { return new httplib::ThreadPool(threads); };
    errno = 0;
    port_ = port == 0 ? server.bind_to_any_port(address) : server.bind_to_port(address, port) ? port : -1;
    if (port_ < 0) fail(address, port);
    library_->listener = std::thread([&server] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

HttpServer::~HttpServer() {
    library_->server.stop();
    library_->listener.join();
}

}  // namespace strop::serve
