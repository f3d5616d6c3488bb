// The runs and profiles that this server starts, as children that run the program: one at a time, because two would
// disturb each other's times.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "core/kernel.h"
#include "knowledge/store_address.h"

namespace strop::serve {

struct Launched {
    std::string problem;  // as it was given
    std::string run;      // empty until it has said its name
    std::string kernel;   // of that run, whose profile is made; empty: the run itself
    bool running = false, stopping = false;
    int exit_code = 0;              // once it has ended
    std::vector<std::string> said;  // its latest lines
};

// A kernel of a run, as it is called where it did best.
struct ProfileRequest {
    std::string run, problem_folder;
    Kernel kernel;
    Configuration configuration;
    std::vector<std::string> points;  // labels
};

class Launcher {
public:
    // A server's address goes into STROP_STORE of this process, which children inherit: lists of processes show words.
    Launcher(std::filesystem::path program, StoreAddress store);
    ~Launcher();  // interrupts what still runs and waits until it has saved its state
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    // False, and nothing is started, while another one runs.
    bool optimize(const std::string& problem, const std::string& budget);
    bool resume(const std::string& run, const std::string& problem, const std::string& budget);  // empty: what is left
    // `done` gets the page once it is there, on another thread.
    bool profile(const ProfileRequest& request, std::function<void(const std::string& page)> done);
    // An interrupt; false unless this run was started here and goes on.
    bool stop(const std::string& run);

    Launched latest() const;
    // Waits until the latest one has a name or has ended.
    Launched named(std::chrono::milliseconds patience) const;

private:
    bool start(Launched launched, std::vector<std::string> words, std::function<void()> done = {});
    std::vector<std::string> with_store(std::vector<std::string> words) const;
    void hear(const std::string& line);

    std::filesystem::path program_;
    StoreAddress store_;
    TemporaryFolder folder_{"strop-serve"};  // of sources and pages of profiles
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    Launched latest_;
    std::thread follower_;  // also the child's parent: it is killed when this thread ends
};

}  // namespace strop::serve
