// How a worker is started: by any command whose standard input and output are a pipe to `strop worker`, or at a place,
// which is a command that runs the words after it somewhere else (worker_place.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/kernel.h"

namespace strop::judge {

inline constexpr Seconds usual_patience{60};
inline constexpr Seconds usual_silence{60};
inline constexpr Seconds least_silence{10};    // a worker says something every 5 s (worker.h)
inline constexpr int most_of_one_name = 1000;  // each has a process and a thread here

struct WorkerCommand {
    std::string given;                 // by the user; empty: this program, on this machine
    std::vector<std::string> argv;     // empty where there is a place
    std::vector<std::string> place;    // empty: argv starts it
    std::string folder;                // at the place, where the program is copied to
    Seconds patience{usual_patience};  // for its first answer
    Seconds silence{usual_silence};    // after which one that was asked and says nothing is lost
    Seconds batch{0};                  // for the answer to a batch; 0: what follows from the batch (batch_limit.h)
    std::string target;                // that it judges kernels for (device/target.h); empty: its machine as it is
    std::string device;                // that its kernels run on: "cuda", or the processor where it is empty
    int number = 0;                    // among those that start alike; 0: there is no other
    std::vector<Language> languages;   // that its kernels are in; empty: that says nothing of it

    bool is_own() const { return given.empty(); }
    std::string label() const;  // "gpu1", "gpu1 #2"
    std::string name() const;   // for messages: "the worker 'ssh gpu1 strop worker'"
};

// Those of a command: as they were given, and what that means, at least one.
struct Workers {
    std::vector<std::string> given;  // empty: this machine's own
    std::vector<WorkerCommand> commands;

    bool are_own() const { return given.empty(); }
};

// Split like a shell splits words: at blanks, but for '...', "..." and a backslash. Nothing is expanded. UsageError for
// a quote without an end.
std::vector<std::string> split_words(const std::string& text);

// `given`: a command, a place (`ssh gpu1`: a command that is known to lead elsewhere, without a word of workers), or
// one word without a slash, which is the name of a worker in `file`. UsageErrors say which names there are.
WorkerCommand worker_command(const std::string& given, const std::filesystem::path& file);

// All that several of these mean: a name in `file` may stand for many (`count`). Those that start alike are numbered.
std::vector<WorkerCommand> worker_commands(const std::vector<std::string>& given, const std::filesystem::path& file);

// Those in `file`, in its order; none where there is no such file.
std::vector<std::string> worker_names(const std::filesystem::path& file);

// $STROP_WORKERS, else $XDG_CONFIG_HOME/strop/workers.yaml, else ~/.config/strop/workers.yaml.
std::filesystem::path workers_file();

}  // namespace strop::judge
