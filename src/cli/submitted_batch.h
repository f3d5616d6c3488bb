// What is kept of a submitted batch, and that only one command at a time follows it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace strop::cli {

// strop-batch.json
struct SubmittedBatch {
    std::string name;                  // of the job, unique; written before it is submitted
    std::string place;                 // where it was submitted (Scheduler::place)
    std::string job;                   // its id; empty: the leader was killed before it could write it
    std::string script;                // hash of what was submitted
    std::map<std::string, int> tasks;  // by problem: its number in the script
};

// Empty where there is none. UsageError for a file that is none.
SubmittedBatch read_batch(const std::filesystem::path& folder);
void write_batch(const std::filesystem::path& folder, const SubmittedBatch& batch);

// Held as long as the object lives. UsageError where another process has it.
class BatchLock {
public:
    explicit BatchLock(const std::filesystem::path& folder);
    ~BatchLock();
    BatchLock(const BatchLock&) = delete;
    BatchLock& operator=(const BatchLock&) = delete;

private:
    int file_ = -1;
};

// What a log says last: of its lines the one that tells the error, else the last; empty where there is no log.
std::string last_words(const std::filesystem::path& log);

}  // namespace strop::cli
