#include "agent/open_calls.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace strop::agent {

namespace {

constexpr std::chrono::milliseconds look_every{50};  // at whether to go on waiting

std::string describe(const Question& question) {
    return fmt::format("{} {} about {}", question.request.role, question.seat.model->name(), question.subject);
}

}  // namespace

bool Question::await_suspend(std::coroutine_handle<> asking) {
    task = asking;
    return calls.ask(*this);
}

OpenCalls::OpenCalls(Panel& panel, int most, MayBegin may_begin)
    : panel_(panel),
      most_(static_cast<size_t>(std::max(1, most))),
      may_begin_(std::move(may_begin)) {}

OpenCalls::~OpenCalls() { ended_ = true; }

bool OpenCalls::ask(Question& question) {
    if (open_.size() < most_) return begin(question);
    queue_.push_back(&question);
    return true;
}

bool OpenCalls::begin(Question& question) {
    if (!may_begin_(question)) {
        question.reply.failure = llm::Failure::timed_out;
        question.reply.why = "not asked: the time that is left is too short";
        return false;
    }
    Open open{"", describe(question), &question, {}};
    auto begun =
        std::make_shared<llm::Begun>(panel_.begin(question.seat, std::move(question.request), question.subject));
    open.key = begun->call.hash;
    if (begun->answered) note_back(open.key);
    const std::launch where = begun->answered ? std::launch::deferred : std::launch::async;
    open.call = std::async(where, [this, begun, key = open.key] {
        struct Back {
            OpenCalls& calls;
            const std::string& key;
            bool noted;
            ~Back() {
                if (!noted) calls.note_back(key);
            }
        } back{*this, key, begun->answered};
        return panel_.finish(*begun, [this] { return ended_.load(); });
    });
    open_.push_back(std::move(open));
    return true;
}

void OpenCalls::note_back(const std::string& key) {
    std::lock_guard lock(mutex_);
    back_.push_back(key);
    changed_.notify_all();
}

std::vector<std::string> OpenCalls::back(const std::function<bool()>& go_on) {
    std::unique_lock lock(mutex_);
    while (back_.empty() && go_on && go_on()) changed_.wait_for(lock, look_every);
    return back_;
}

void OpenCalls::take(const std::string& key) {
    auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& open) { return open.key == key; });
    if (found == open_.end()) return;
    Open open = std::move(*found);
    open_.erase(found);
    open.question->reply = panel_.settle(open.call.get());
    {
        std::lock_guard lock(mutex_);
        std::erase(back_, key);
    }
    std::vector<std::coroutine_handle<>> go_on;
    while (open_.size() < most_ && !queue_.empty()) {
        Question& next = *queue_.front();
        queue_.pop_front();
        if (!begin(next)) go_on.push_back(next.task);
    }
    go_on.push_back(open.question->task);
    for (std::coroutine_handle<> task : go_on) task.resume();
}

std::vector<std::string> OpenCalls::end() {
    ended_ = true;
    std::vector<std::string> lost;
    for (const Open& open : open_) {
        open.call.wait();
        lost.push_back(open.described);
    }
    for (const Question* question : queue_) lost.push_back(describe(*question));
    open_.clear();
    queue_.clear();
    return lost;
}

}  // namespace strop::agent
