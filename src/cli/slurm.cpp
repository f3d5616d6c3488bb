#include "cli/slurm.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/line.h"
#include "base/strings.h"
#include "judge/worker_command.h"

namespace strop::cli {

namespace {

constexpr const char* head = R"(#SBATCH --time={}
#SBATCH --nodes=1
#SBATCH --ntasks=1
{}#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60

)";

bool begins_with(const std::vector<std::string>& words, const std::vector<std::string>& flags) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
            return flag.starts_with("--") ? word == flag || word.starts_with(flag + "=")
                                          : word.starts_with(flag) && !word.starts_with("--");
        });
    });
}

std::vector<std::string> sbatch_flags(const Arguments& arguments) {
    const std::vector<std::string> words = judge::split_words(arguments.text("--slurm"));
    for (const char* ours : {"--array", "-a", "--job-name", "-J", "--wrap", "--parsable", "--wait", "-W", "--clusters",
                             "-M", "--test-only", "--output", "-o"})
        if (begins_with(words, {ours}))
            throw UsageError(fmt::format("--slurm: {} is for Strop to say", ours), "leave it out");
    return words;
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// "1234_5"
bool read_task(std::string_view text, std::string& job, int& task) {
    const size_t line = text.find('_');
    if (line == std::string_view::npos || !is_number(text.substr(0, line)) || !is_number(text.substr(line + 1)))
        return false;
    job = text.substr(0, line);
    const std::string_view number = text.substr(line + 1);
    return std::from_chars(number.data(), number.data() + number.size(), task).ec == std::errc();
}

// Of a state of squeue's or sacct's. Those that are not here are of a task that will run.
Task task_in(const std::string& state, const std::string& reason) {
    static const std::map<std::string, Task> known = {
        {"RUNNING", {TaskState::running, ""}},
        {"COMPLETING", {TaskState::ending, ""}},
        {"COMPLETED", {TaskState::completed, ""}},
        {"FAILED", {TaskState::failed, ""}},
        {"LAUNCH_FAILED", {TaskState::stopped, "it could not be started"}},
        {"REVOKED", {TaskState::stopped, "another cluster took it"}},
        {"TIMEOUT", {TaskState::stopped, "the job's time limit ended it"}},
        {"DEADLINE", {TaskState::stopped, "the job's deadline ended it"}},
        {"NODE_FAIL", {TaskState::stopped, "its node failed"}},
        {"BOOT_FAIL", {TaskState::stopped, "its node failed"}},
        {"PREEMPTED", {TaskState::stopped, "it was preempted and not started again"}},
        {"OUT_OF_MEMORY", {TaskState::stopped, "it took more memory than the job has"}},
        {"CANCELLED", {TaskState::stopped, "it was cancelled"}}};
    const auto found = known.find(state);
    return found == known.end() ? Task{TaskState::waiting, reason} : found->second;
}

}  // namespace

// The run keeps to its budget; measuring the baselines, the finals and the verification are given as much again twice.
Slurm::Slurm(const Arguments& arguments)
    : flags_(sbatch_flags(arguments)),
      minutes_(30 + static_cast<int>(std::ceil(3 * arguments.duration("--budget").count() / 60))) {}

ScriptFrame Slurm::frame() const {
    // Timing wants the node for itself, unless the user says how much of it.
    const bool sized = begins_with(flags_, {"-c", "--cpus-per-task", "--exclusive", "--oversubscribe", "-s",
                                            "--cores-per-socket", "-n", "--ntasks"});
    return {"slurm",
            fmt::format(head, minutes_, sized ? "" : "#SBATCH --exclusive\n"),
            "$SLURM_ARRAY_TASK_ID",
            "task $SLURM_ARRAY_TASK_ID of job $SLURM_ARRAY_JOB_ID, restart ${SLURM_RESTART_COUNT:-0}",
            {}};
}

std::vector<std::string> Slurm::sbatch_words(const Submission& submission) const {
    std::vector<std::string> numbers;
    for (const int task : submission.tasks) numbers.push_back(std::to_string(task));
    const std::string log = submission.folder / "strop-batch.log";
    std::vector<std::string> words = {"sbatch", "--parsable", "--job-name=" + submission.name,
                                      "--array=" + join(numbers, ","), "--output=" + replace_all(log, "%", "%%")};
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.push_back(submission.folder / script_name);
    return words;
}

sandbox::Finished Slurm::run(const std::vector<std::string>& words) {
    return Scheduler::run(words, "run it where Slurm's commands are, as on a login node; --dry-run needs none");
}

std::string Slurm::shown(const Submission& submission) const {
    return fmt::format("# {}\n", shell_line(sbatch_words(submission)));
}

std::string Slurm::submit(const Submission& submission) {
    const sandbox::Finished finished = run(sbatch_words(submission));
    if (!finished.ok())
        throw EnvironmentError(fmt::format("sbatch refuses the job: {}", last_line(finished)),
                               "--slurm gives sbatch more flags, such as --slurm \"--partition=cpu\"");
    const std::string id = std::string(trim(finished.out));  // "1234", or "1234;cluster"
    const std::string number = id.substr(0, id.find(';'));
    if (!is_number(number))
        throw EnvironmentError(fmt::format("sbatch answers '{}', which is no job", one_line(id)),
                               "does `sbatch --parsable` print a number here?");
    return number;
}

std::optional<ScheduledJob> Slurm::job_named(const std::string& name) {
    const sandbox::Finished finished =
        run({"squeue", "--noheader", "--array", "--states=all", "--name=" + name, "--format=%i|%T|%r"});
    if (!finished.ok()) return {};
    ScheduledJob job;
    for (const std::string& line : split(finished.out, '\n')) {
        const std::vector<std::string> parts = split(trim(line), '|');
        int task = 0;
        if (parts.size() < 2 || !read_task(parts[0], job.id, task)) continue;
        job.tasks[task] = task_in(parts[1], parts.size() > 2 && parts[2] != "None" ? one_line(parts[2]) : "");
    }
    return job;
}

Task Slurm::past_task(const std::string& job, int task) {
    const std::string id = fmt::format("{}_{}", job, task);
    try {
        const sandbox::Finished finished =
            run({"sacct", "--noheader", "--allocations", "--parsable2", "--jobs=" + id, "--format=JobID,State"});
        for (const std::string& line : split(finished.ok() ? finished.out : "", '\n')) {
            const std::vector<std::string> parts = split(trim(line), '|');
            if (parts.size() == 2 && parts[0] == id) return task_in(split(parts[1], ' ')[0], "");  // "CANCELLED by 1"
        }
    } catch (const EnvironmentError&) {  // a cluster without accounting
    }
    return {};
}

bool Slurm::cancel(const std::string& job) { return run({"scancel", job}).ok(); }

}  // namespace strop::cli
