// What runs the tasks of a batch elsewhere: Slurm (slurm.h), Kubernetes (kubernetes.h).
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "cli/task_script.h"
#include "sandbox/process.h"

namespace strop::cli {

enum class TaskState {
    unknown,  // the scheduler does not know it, or not any more
    waiting,  // also: to be started again
    running,
    ending,
    completed,
    failed,   // by itself
    stopped,  // by the scheduler, and not started again
};

struct Task {
    TaskState state = TaskState::unknown;
    std::string says;  // why it waits, or what ended it

    bool is_active() const;
};

struct ScheduledJob {
    std::string id;  // empty: none of that name is known
    std::map<int, Task> tasks;

    bool is_active() const;
};

struct Submission {
    std::filesystem::path folder;  // which has the script
    std::string name;              // of the job
    std::vector<int> tasks;
};

class Scheduler {
public:
    virtual ~Scheduler() = default;

    virtual std::string name() const = 0;   // "Slurm"
    virtual std::string asked() const = 0;  // the command that tells of jobs: "squeue"
    virtual ScriptFrame frame() const = 0;
    virtual std::string cancel_line(const std::string& job) const = 0;  // for the user's shell

    // What tells its jobs from those of another cluster; a batch is followed only where it was submitted.
    virtual std::string place() = 0;

    // What submit would do beside the script, for --dry-run.
    virtual std::string shown(const Submission& submission) const = 0;

    // The id of the new job. EnvironmentError: there is no such command, or it refuses (its last line is quoted).
    virtual std::string submit(const Submission& submission) = 0;

    // Nothing where the scheduler does not answer, then why() says it.
    virtual std::optional<ScheduledJob> job_named(const std::string& name) = 0;
    // A task that job_named has no news of.
    virtual Task past_task(const std::string& job, int task) = 0;

    // False when it fails; why() says it.
    virtual bool cancel(const std::string& job) = 0;

    const std::string& why() const { return why_; }

protected:
    // One of the scheduler's commands, with the user's environment. EnvironmentError with that hint where there is no
    // such command; why() tells other failures.
    sandbox::Finished run(const std::vector<std::string>& words, const std::string& hint);

    std::string why_;
};

// The last line that it printed, else how it ended.
std::string last_line(const sandbox::Finished& finished);

// That --on names. UsageErrors for what its flags hold.
std::unique_ptr<Scheduler> make_scheduler(const Arguments& arguments);

}  // namespace strop::cli
