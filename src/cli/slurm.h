// Slurm's own commands: sbatch, squeue, sacct, scancel. The only file that knows how they answer.
#pragma once

#include <string>
#include <vector>

#include "cli/scheduler.h"

namespace strop::cli {

class Slurm : public Scheduler {
public:
    // UsageError where --slurm holds what is ours to say.
    explicit Slurm(const Arguments& arguments);

    std::string name() const override { return "Slurm"; }
    std::string asked() const override { return "squeue"; }
    ScriptFrame frame() const override;
    std::string cancel_line(const std::string& job) const override { return "scancel " + job; }
    std::string place() override { return "slurm"; }
    std::string shown(const Submission& submission) const override;
    std::string submit(const Submission& submission) override;
    std::optional<ScheduledJob> job_named(const std::string& name) override;
    Task past_task(const std::string& job, int task) override;
    bool cancel(const std::string& job) override;

private:
    sandbox::Finished run(const std::vector<std::string>& words);
    std::vector<std::string> sbatch_words(const Submission& submission) const;

    std::vector<std::string> flags_;  // of sbatch, the user's
    int minutes_;                     // time limit of a task
};

}  // namespace strop::cli
