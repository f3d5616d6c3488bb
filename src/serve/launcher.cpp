#include "serve/launcher.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/error.h"
#include "base/line.h"
#include "sandbox/line_process.h"

namespace strop::serve {

namespace {

constexpr size_t kept_lines = 8, longest_name = 100;
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
    return start({problem, "", ""}, with_store({"optimize", problem, "--budget", budget}));
}

bool Launcher::resume(const std::string& run, const std::string& problem, const std::string& budget) {
    std::vector<std::string> words = {"resume", run};
    if (!budget.empty()) words.insert(words.end(), {"--budget", budget});
    return start({problem, run, ""}, with_store(std::move(words)));
}

bool Launcher::profile(const ProfileRequest& request, std::function<void(const std::string&)> done) {
    std::string file_name = request.kernel.id;  // which the profile shows
    std::replace_if(
        file_name.begin(), file_name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
    const std::string source = folder_.path() / (file_name.substr(0, longest_name) + ".cpp"),
                      page = folder_.path() / "profile.html";
    std::vector<std::string> words = {"profile", source, "--problem", request.problem_folder, "--html", page};
    for (const auto& [name, value] : request.configuration)
        words.insert(words.end(), {"--set", name + "=" + to_string(value)});
    for (const std::string& label : request.points) words.insert(words.end(), {"--point", label});
    {
        std::lock_guard lock(mutex_);
        if (latest_.running) return false;
        write_file(source, request.kernel.source);
    }
    return start({request.problem_folder, request.run, request.kernel.id}, std::move(words),
                 [page, done = std::move(done)] { done(read_file(page)); });
}

bool Launcher::stop(const std::string& run) {
    std::lock_guard lock(mutex_);
    if (!latest_.running || run.empty() || latest_.run != run || !latest_.kernel.empty()) return false;
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

std::vector<std::string> Launcher::with_store(std::vector<std::string> words) const {
    if (!store_.is_server()) words.insert(words.end(), {"--store", store_.file().string()});
    return words;
}

bool Launcher::start(Launched launched, std::vector<std::string> words, std::function<void()> done) {
    std::lock_guard lock(mutex_);
    if (latest_.running) return false;
    if (follower_.joinable()) follower_.join();  // it has nothing left to do
    launched.running = true;
    latest_ = std::move(launched);
    words.insert(words.begin(), program_.string());
    follower_ = std::thread([this, argv = std::move(words), done = std::move(done)] {
        int exit_code = static_cast<int>(Exit::environment);
        try {
            exit_code = sandbox::follow(
                            argv, [this](const std::string& line) { hear(line); },
                            [this] {
                                std::lock_guard asking(mutex_);
                                return latest_.stopping;
                            })
                            .exit_code;
            if (exit_code == 0 && done) done();
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
