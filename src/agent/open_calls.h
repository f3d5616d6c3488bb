// Calls to models that are under way, each on a thread of its own, while the search goes on. Replies are taken on the
// thread of who asked, in an order that a recording can hold.
#pragma once

#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "agent/panel.h"

namespace strop::agent {

class OpenCalls;

// What a task awaits: `co_await Question{...}` stops it until its reply is taken.
struct Question {
    OpenCalls& calls;
    Seat& seat;
    llm::Request request;
    std::string subject;
    llm::Reply reply = {};
    std::coroutine_handle<> task = {};

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> asking);
    llm::Reply await_resume() { return std::move(reply); }
};

class OpenCalls {
public:
    // Whether it is still worth its while: asked when a call would begin.
    using MayBegin = std::function<bool(const Question&)>;

    // At most `most` at a time, the others queue. The panel outlives it.
    OpenCalls(Panel& panel, int most, MayBegin may_begin);
    ~OpenCalls();  // cancels what is under way

    // False where it may not begin: the reply says so.
    bool ask(Question& question);
    size_t count() const { return open_.size() + queue_.size(); }
    // The keys of calls that came back and were not taken, in the order of coming; the first one is awaited while
    // `go_on` says so.
    std::vector<std::string> back(const std::function<bool()>& go_on = {});
    // Its task goes on, and the next in the queue begins. Waits for a call that did not come back; nothing for one that
    // is not open. What the panel throws is thrown.
    void take(const std::string& key);
    // Cancels all; "ROLE MODEL about SUBJECT" of each. Their tasks never go on.
    std::vector<std::string> end();

private:
    struct Open {
        std::string key, described;
        Question* question;
        std::future<llm::Call> call;
    };

    bool begin(Question& question);
    void note_back(const std::string& key);

    Panel& panel_;
    size_t most_;
    MayBegin may_begin_;
    std::deque<Question*> queue_;
    std::atomic<bool> ended_ = false;
    std::mutex mutex_;  // of the next
    std::vector<std::string> back_;
    std::condition_variable changed_;
    std::vector<Open> open_;  // in the order of beginning; last, so that their threads end first
};

}  // namespace strop::agent
