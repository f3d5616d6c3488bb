#include "cli/scheduler.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "cli/kubernetes.h"
#include "cli/slurm.h"
#include "sandbox/environment.h"

namespace strop::cli {

namespace {

constexpr Seconds patience{120};               // with one command; a busy controller takes a while
constexpr int64_t longest_answer = 256 << 20;  // thousands of pods, described in full

}  // namespace

bool Task::is_active() const {
    return state == TaskState::waiting || state == TaskState::running || state == TaskState::ending;
}

bool ScheduledJob::is_active() const {
    return std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.second.is_active(); });
}

std::string last_line(const sandbox::Finished& finished) {
    std::string last;
    for (const std::string& text : {finished.out, finished.err})
        for (const std::string& line : split(text, '\n'))
            if (!trim(line).empty()) last = one_line(trim(line));
    return last.empty() ? finished.describe() : last;
}

sandbox::Finished Scheduler::run(const std::vector<std::string>& words, const std::string& hint) {
    sandbox::Command command;
    command.argv = words;
    command.limits.wall = patience;
    command.limits.output_bytes = longest_answer;
    command.environment = sandbox::own_environment();
    sandbox::Finished finished = sandbox::run(command);
    why_.clear();
    if (finished.not_found) throw EnvironmentError(fmt::format("there is no {} here", words[0]), hint);
    if (!finished.ok()) why_ = fmt::format("{}: {}", words[0], last_line(finished));
    return finished;
}

std::unique_ptr<Scheduler> make_scheduler(const Arguments& arguments) {
    if (arguments.text("--on") == "k8s") return std::make_unique<Kubernetes>(arguments);
    return std::make_unique<Slurm>(arguments);
}

}  // namespace strop::cli
