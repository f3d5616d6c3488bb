#include "cli/slurm.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"

namespace strop::cli {

namespace {

constexpr Seconds patience{120};  // with one command; a busy controller takes a while

// squeue's states of jobs that will not run again.
constexpr std::array<std::string_view, 11> ended = {"COMPLETED", "FAILED",        "CANCELLED",    "TIMEOUT",
                                                    "NODE_FAIL", "PREEMPTED",     "BOOT_FAIL",    "DEADLINE",
                                                    "REVOKED",   "LAUNCH_FAILED", "OUT_OF_MEMORY"};

std::string last_line(const sandbox::Finished& finished) {
    std::string last;
    for (const std::string& text : {finished.out, finished.err})
        for (const std::string& line : split(text, '\n'))
            if (!trim(line).empty()) last = one_line(trim(line));
    return last.empty() ? finished.describe() : last;
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

}  // namespace

bool SlurmTask::is_active() const {
    return !state.empty() && std::find(ended.begin(), ended.end(), state) == ended.end();
}

bool SlurmJob::is_active() const {
    return std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.second.is_active(); });
}

sandbox::Finished Slurm::run(const std::vector<std::string>& words) {
    sandbox::Command command;
    command.argv = words;
    command.limits.wall = patience;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text = *entry;
        if (const size_t equals = text.find('='); equals != std::string_view::npos)
            command.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    sandbox::Finished finished = sandbox::run(command);
    why_.clear();
    if (finished.not_found)
        throw EnvironmentError(fmt::format("there is no {} here", words[0]),
                               "run it where Slurm's commands are, as on a login node; --dry-run needs none");
    if (!finished.ok()) why_ = fmt::format("{}: {}", words[0], last_line(finished));
    return finished;
}

std::string Slurm::submit(const std::vector<std::string>& words) {
    const sandbox::Finished finished = run(words);
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

std::optional<SlurmJob> Slurm::job_named(const std::string& name) {
    const sandbox::Finished finished =
        run({"squeue", "--noheader", "--array", "--states=all", "--name=" + name, "--format=%i|%T|%r"});
    if (!finished.ok()) return {};
    SlurmJob job;
    for (const std::string& line : split(finished.out, '\n')) {
        const std::vector<std::string> parts = split(trim(line), '|');
        int task = 0;
        if (parts.size() < 2 || !read_task(parts[0], job.id, task)) continue;
        job.tasks[task] = {parts[1], parts.size() > 2 && parts[2] != "None" ? one_line(parts[2]) : ""};
    }
    return job;
}

std::string Slurm::past_state(const std::string& job, int task) {
    const std::string id = fmt::format("{}_{}", job, task);
    try {
        const sandbox::Finished finished =
            run({"sacct", "--noheader", "--allocations", "--parsable2", "--jobs=" + id, "--format=JobID,State"});
        for (const std::string& line : split(finished.ok() ? finished.out : "", '\n')) {
            const std::vector<std::string> parts = split(trim(line), '|');
            if (parts.size() == 2 && parts[0] == id) return split(parts[1], ' ')[0];  // "CANCELLED by 1000"
        }
    } catch (const EnvironmentError&) {  // a cluster without accounting
    }
    return {};
}

bool Slurm::cancel(const std::string& job) { return run({"scancel", job}).ok(); }

}  // namespace strop::cli
