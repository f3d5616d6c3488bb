// A worker's process as who asks it sees it: started by a command, greeted, then a line there and a line back.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"
#include "judge/worker_command.h"
#include "judge/worker_greeting.h"
#include "sandbox/line_process.h"

namespace strop::judge {

// What was started ended before it spoke as a worker does.
class NoWorkerBegan : public EnvironmentError {
public:
    using EnvironmentError::EnvironmentError;
};

class WorkerConnection {
public:
    // `idle` is called a few times a second while waiting and may throw. NoWorkerBegan; other EnvironmentErrors: it
    // prints too much that no worker says, says nothing for as long as the command has patience, or is of another
    // version.
    WorkerConnection(const WorkerCommand& command, const std::function<void()>& idle);
    // The worker gets a moment to tidy up, unless it is ours.
    ~WorkerConnection();
    WorkerConnection(const WorkerConnection&) = delete;
    WorkerConnection& operator=(const WorkerConnection&) = delete;

    const Greeting& greeting() const { return greeting_; }
    // False when it is gone, says nothing for as long as the command allows, or has no answer within `limit`.
    bool ask(const std::string& message, std::string& answer, Seconds limit, const std::function<void()>& idle);
    // What it printed last before it spoke; may be empty.
    const std::string& banner() const { return last_printed_; }
    // How it went, with the last words of its standard error. Ends it.
    std::string end();

private:
    void greet(const std::function<void()>& idle);
    bool is_greeting(const std::string& line);
    [[noreturn]] void fail_to_start();

    WorkerCommand command_;
    sandbox::LineProcess process_;
    Greeting greeting_;
    std::string last_printed_;  // before the greeting
    std::string given_up_;      // why it was not waited for any longer
};

}  // namespace strop::judge
