// How a worker is started: by any command whose standard input and output are a pipe to `strop worker`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"

namespace strop::judge {

inline constexpr Seconds usual_patience{60};

struct WorkerCommand {
    std::string given;  // by the user; empty: this program, on this machine
    std::vector<std::string> argv;
    Seconds patience{usual_patience};  // for its first answer

    bool is_own() const { return given.empty(); }
    std::string name() const;  // for messages: "the worker 'ssh gpu1 strop worker'"
};

// Split like a shell splits words: at blanks, but for '...', "..." and a backslash. Nothing is expanded. UsageError for
// a quote without an end.
std::vector<std::string> split_words(const std::string& text);

// `given`: a command, or one word without a slash, which is the name of a worker in `file`. UsageErrors say which names
// there are.
WorkerCommand worker_command(const std::string& given, const std::filesystem::path& file);

// $STROP_WORKERS, else $XDG_CONFIG_HOME/strop/workers.yaml, else ~/.config/strop/workers.yaml.
std::filesystem::path workers_file();

}  // namespace strop::judge
