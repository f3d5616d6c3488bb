// The script of an array job, readable by a person.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace strop::cli {

// What a task's log says last when a signal ended it.
inline constexpr const char* stopped_words = "stopped by a signal before its end; the run is saved";

struct SlurmScript {
    std::filesystem::path folder;       // of results, stores and logs
    std::vector<std::string> names;     // of problems; the array's indexes
    std::vector<std::string> problems;  // their folders
    std::string store;                  // a server's address; empty: each task has a file of its own
};

// What --slurm holds. UsageError for what is ours to say.
std::vector<std::string> sbatch_flags(const Arguments& arguments);

std::string script_text(const SlurmScript& script, const Arguments& arguments);

// sbatch, for the tasks of these indexes.
std::vector<std::string> sbatch_words(const std::filesystem::path& folder, const std::string& name,
                                      const std::vector<int>& indexes, const std::vector<std::string>& flags);

std::string shell_line(const std::vector<std::string>& words);

}  // namespace strop::cli
