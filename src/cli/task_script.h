// The script that runs each task of a batch elsewhere, readable by a person.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace strop::cli {

inline constexpr const char* script_name = "strop-batch.sh";

// What a task's log says last when a signal ended it.
inline constexpr const char* stopped_words = "stopped by a signal before its end; the run is saved";

struct TaskScript {
    std::filesystem::path folder;       // of results, stores and logs
    std::vector<std::string> names;     // of problems, by task
    std::vector<std::string> problems;  // their folders
    std::string store;                  // a server's address; empty: each task has a file of its own
};

// What differs between schedulers.
struct ScriptFrame {
    std::string on;     // "slurm"
    std::string head;   // lines before all others
    std::string task;   // an expression of the shell: the task's number
    std::string about;  // a text of the shell, for the log
    std::string strop;  // the program; empty: this one, under the same path
};

std::string script_text(const TaskScript& script, const ScriptFrame& frame, const Arguments& arguments);

std::string shell_line(const std::vector<std::string>& words);

}  // namespace strop::cli
