#include "serve/http_server.h"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::serve {

namespace {

constexpr std::chrono::seconds patience{5};
constexpr int most_waiting = 128;  // connections that are not accepted yet

// Starts a thread more where none is free: a connection that says nothing holds one as long as our patience lasts.
class GrowingPool : public httplib::TaskQueue {
public:
    GrowingPool(size_t threads, size_t most) : most_(most) {
        const std::lock_guard lock(mutex_);
        while (threads_.size() < threads) start();
    }

    void enqueue(std::function<void()> task) override {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
        if (tasks_.size() > free_ && threads_.size() < most_) start();
        changed_.notify_one();
    }

    void shutdown() override {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

private:
    void start() {
        ++free_;
        threads_.emplace_back([this] { work(); });
    }

    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
            if (tasks_.empty()) return;
            const std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            --free_;
            lock.unlock();
            task();
            lock.lock();
            ++free_;
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
    size_t free_ = 0, most_;  // threads: that wait for a task, or are about to
    bool ends_ = false;
};

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
    int socket = -1;
    server.set_socket_options([&socket](int fresh) { allow_quick_restart(socket = fresh); });
    server.set_payload_max_length(limits.most_bytes);
    server.set_read_timeout(patience);
    server.set_keep_alive_max_count(1);  // what was not read of one request is not taken for the next
    server.new_task_queue = [limits] { return new GrowingPool(limits.threads, limits.most_threads); };
    errno = 0;
    port_ = port == 0 ? server.bind_to_any_port(address) : server.bind_to_port(address, port) ? port : -1;
    if (port_ < 0) fail(address, port);
    ::listen(socket, most_waiting);  // the library's own number is 5, and who is one too many waits for a second
    library_->listener = std::thread([&server] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

HttpServer::~HttpServer() {
    library_->server.stop();
    library_->listener.join();
}

}  // namespace strop::serve
