// Slurm's own commands: sbatch, squeue, sacct, scancel. The only file that knows how they answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/process.h"

namespace strop::cli {

struct SlurmTask {
    std::string state;   // "PENDING", "RUNNING", "COMPLETED", ...; empty: Slurm does not know it
    std::string reason;  // why it waits

    bool is_active() const;  // it runs, waits, or is about to be started again
};

using SlurmTasks = std::map<int, SlurmTask>;  // by index in the array

struct SlurmJob {
    std::string id;  // empty: none of that name is known
    SlurmTasks tasks;

    bool is_active() const;
};

class Slurm {
public:
    // The id of the new job. EnvironmentError: there is no sbatch, or it refuses (its last line is quoted).
    std::string submit(const std::vector<std::string>& words);

    // What squeue says of the job of that name; nothing where it does not answer, then why() says it.
    std::optional<SlurmJob> job_named(const std::string& name);
    const std::string& why() const { return why_; }

    // Of a task that squeue has forgotten: what the accounting says, if there is one.
    std::string past_state(const std::string& job, int task);

    // False when scancel fails; why() says it.
    bool cancel(const std::string& job);

private:
    // The user's environment goes along: sbatch gives it to the job.
    sandbox::Finished run(const std::vector<std::string>& words);
    std::string why_;
};

}  // namespace strop::cli
