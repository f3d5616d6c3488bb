#include "cli/slurm_script.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "judge/worker_command.h"

namespace strop::cli {

namespace {

// Of the command that the leader was given: what is said to the tasks otherwise, or not at all.
const std::vector<std::string> not_for_tasks = {"--on",    "--slurm", "--continue", "--jobs",   "--out",
                                                "--store", "--json",  "--quiet",    "--dry-run"};

std::string quoted(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) || std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    return plain ? word : "'" + replace_all(word, "'", "'\\''") + "'";
}

bool begins_with(const std::vector<std::string>& words, const std::vector<std::string>& flags) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
            return flag.starts_with("--") ? word == flag || word.starts_with(flag + "=")
                                          : word.starts_with(flag) && !word.starts_with("--");
        });
    });
}

// The run keeps to its budget; measuring the baselines, the finals and the verification are given as much again twice.
int minutes_of(const Arguments& arguments) {
    return 30 + static_cast<int>(std::ceil(3 * arguments.duration("--budget").count() / 60));
}

std::vector<std::string> task_flags(const Arguments& arguments) {
    std::vector<std::string> words;
    for (const Flag& flag : arguments.spec().flags) {
        if (!arguments.has(flag.name) ||
            std::find(not_for_tasks.begin(), not_for_tasks.end(), flag.name) != not_for_tasks.end())
            continue;
        if (flag.kind == Kind::on_off) words.push_back(flag.name);
        else
            for (const std::string& value : arguments.all(flag.name)) {
                words.push_back(flag.name);
                words.push_back(value);
            }
    }
    return words;
}

constexpr const char* head = R"(#!/bin/bash
# Written by `strop optimize --on slurm`: a task for each problem. What is done is shown and what was begun goes on, so
# that a task may be stopped and started again at any time.
#SBATCH --time={}
#SBATCH --nodes=1
#SBATCH --ntasks=1
{}#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60

cd {} || exit 3
{}results={}
case "$SLURM_ARRAY_TASK_ID" in
)";

constexpr const char* tail = R"(    *) echo "there is no task '$SLURM_ARRAY_TASK_ID'"; exit 2 ;;
esac
exec >> "$results/$name.log" 2>&1
task="task $SLURM_ARRAY_TASK_ID of job $SLURM_ARRAY_JOB_ID"
echo "== $(date -u +%FT%TZ) $(uname -n): $task, restart ${{SLURM_RESTART_COUNT:-0}}"
{} optimize "$problem" --continue --out "$results/$name" --store {}{} &
strop=$!
trap 'kill -TERM $strop' TERM INT    # a time limit, preemption or scancel: the run is saved
wait $strop; code=$?
while kill -0 $strop 2> /dev/null; do wait $strop; code=$?; done
[ $code = 1 ] && code=0              # nothing faster was found: an answer too
[ $code = 130 ] && echo "strop: {}"
exit $code
)";

}  // namespace

std::vector<std::string> sbatch_flags(const Arguments& arguments) {
    const std::vector<std::string> words = judge::split_words(arguments.text("--slurm"));
    for (const char* ours : {"--array", "-a", "--job-name", "-J", "--wrap", "--parsable", "--wait", "-W", "--clusters",
                             "-M", "--test-only", "--output", "-o"})
        if (begins_with(words, {ours}))
            throw UsageError(fmt::format("--slurm: {} is for Strop to say", ours), "leave it out");
    return words;
}

std::string script_text(const SlurmScript& script, const Arguments& arguments) {
    // Timing wants the node for itself, unless the user says how much of it.
    const bool sized = begins_with(sbatch_flags(arguments), {"-c", "--cpus-per-task", "--exclusive", "--oversubscribe",
                                                             "-s", "--cores-per-socket", "-n", "--ntasks"});
    const char* home = std::getenv("STROP_HOME");
    std::string text = fmt::format(
        head, minutes_of(arguments), sized ? "" : "#SBATCH --exclusive\n", quoted(fs::current_path()),
        home && *home ? fmt::format("export STROP_HOME={}\n", quoted(fs::absolute(home))) : "", quoted(script.folder));
    for (size_t i = 0; i < script.names.size(); ++i)
        if (!script.names[i].empty())
            text += fmt::format("    {}) name={} problem={} ;;\n", i, script.names[i], quoted(script.problems[i]));
    std::string flags;
    for (const std::string& word : task_flags(arguments)) flags += " " + quoted(word);
    return text + fmt::format(tail, quoted(fs::read_symlink("/proc/self/exe")),
                              script.store.empty() ? "\"$results/$name.db\"" : quoted(script.store), flags,
                              stopped_words);
}

std::vector<std::string> sbatch_words(const fs::path& folder, const std::string& name, const std::vector<int>& indexes,
                                      const std::vector<std::string>& flags) {
    std::vector<std::string> numbers;
    for (const int index : indexes) numbers.push_back(std::to_string(index));
    std::vector<std::string> words = {"sbatch", "--parsable", "--job-name=" + name, "--array=" + join(numbers, ","),
                                      "--output=" + replace_all((folder / "strop-batch.log").string(), "%", "%%")};
    words.insert(words.end(), flags.begin(), flags.end());
    words.push_back(folder / "strop-batch.sh");
    return words;
}

std::string shell_line(const std::vector<std::string>& words) {
    std::vector<std::string> parts;
    for (const std::string& word : words) parts.push_back(quoted(word));
    return join(parts, " ");
}

}  // namespace strop::cli
