// A function that asks models in the course of its work (a coroutine): it stops at each question and goes on, on the
// thread that takes the reply, once that is taken. `co_await` of another task runs it to its end first.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace strop::agent {

template <typename T>
class [[nodiscard]] Task {
public:
    struct promise_type;
    using Handle = std::coroutine_handle<promise_type>;

    struct Finish {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle done) const noexcept { return done.promise().waiting; }
        void await_resume() const noexcept {}
    };
    struct promise_type {
        std::optional<T> value;
        std::exception_ptr error;
        std::coroutine_handle<> waiting = std::noop_coroutine();  // who awaits it

        Task get_return_object() { return Task(Handle::from_promise(*this)); }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        Finish final_suspend() const noexcept { return {}; }
        void return_value(T result) { value = std::move(result); }
        void unhandled_exception() { error = std::current_exception(); }
    };

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Task() {
        if (handle_) handle_.destroy();
    }

    // To its first question, or its end.
    void start() { handle_.resume(); }
    bool done() const { return handle_.done(); }
    // Once, when it is done; what it threw is thrown again.
    T result() {
        if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
        return std::move(*handle_.promise().value);
    }

    bool await_ready() const noexcept { return false; }
    Handle await_suspend(std::coroutine_handle<> waiting) {
        handle_.promise().waiting = waiting;
        return handle_;
    }
    T await_resume() { return result(); }

private:
    explicit Task(Handle handle) : handle_(handle) {}
    Handle handle_;
};

}  // namespace strop::agent
