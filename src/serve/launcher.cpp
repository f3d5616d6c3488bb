#include "serve/launcher.h"

#include <cstdlib>

#include "base/error.h"
#include "base/line.h"
#include "sandbox/line_process.h"

namespace strop::serve {

namespace {

constexpr size_t kept_lines = 8;
constexpr std::string_view name_line = "run ";  // what a run says first

}  // namespace

Launcher::Launcher(std::filesystem::path program, StoreAddress store)
    : program_(std::move(program)),
      store_(std::move(store)) {
    if (store_.is_server()) ::setenv("STROP_STORE", store_.given().c_str(), 1);
}

Launcher::~Launcher() {
    {
        std::lock_guard lock(mutex_);
        latest_.stopping = true;
    }
    if (follower_.joinable()) follower_.join();
}

bool Launcher::optimize(const std::string& problem, const std::string& budget) {
    return start({problem, ""}, {"optimize", problem, "--budget", budget});
}

bool Launcher::resume(const std::string& run, const std::string& problem, const std::string& budget) {
    std::vector<std::string> words = {"resume", run};
    if (!budget.empty()) words.insert(words.end(), {"--budget", budget});
    return start({problem, run}, words);
}

bool Launcher::stop(const std::string& run) {
    std::lock_guard lock(mutex_);
    if (!latest_.running || run.empty() || latest_.run != run) return false;
    latest_.stopping = true;
    return true;
}

Launched Launcher::latest() const {
    std::lock_guard lock(mutex_);
    return latest_;
}

Launched Launcher::named(std::chrono::milliseconds patience) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return !latest_.running || !latest_.run.empty(); });
    return latest_;
}

bool Launcher::start(Launched launched, const std::vector<std::string>& words) {
    std::lock_guard lock(mutex_);
    if (latest_.running) return false;
    if (follower_.joinable()) follower_.join();  // it has nothing left to do
    launched.running = true;
    latest_ = std::move(launched);
    std::vector<std::string> argv = {program_.string()};
    argv.insert(argv.end(), words.begin(), words.end());
    if (!store_.is_server()) argv.insert(argv.end(), {"--store", store_.file().string()});
    follower_ = std::thread([this, argv] {
        int exit_code = static_cast<int>(Exit::environment);
        try {
            exit_code = sandbox::follow(
                            argv, [this](const std::string& line) { hear(line); },
                            [this] {
                                std::lock_guard asking(mutex_);
                                return latest_.stopping;
                            })
                            .exit_code;
        } catch (const Error& error) {
            hear(error.what());
        }
        std::lock_guard ending(mutex_);
        latest_.running = latest_.stopping = false;
        latest_.exit_code = exit_code;
        changed_.notify_all();
    });
    return true;
}

void Launcher::hear(const std::string& line) {
    std::lock_guard lock(mutex_);
    if (latest_.run.empty() && line.starts_with(name_line)) latest_.run = line.substr(name_line.size());
    latest_.said.push_back(one_line(line));
    if (latest_.said.size() > kept_lines) latest_.said.erase(latest_.said.begin());
    changed_.notify_all();
}

}  // namespace strop::serve
