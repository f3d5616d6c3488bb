#include "cli/task_script.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"

namespace strop::cli {

namespace {

// Of the command that the leader was given: what is said to the tasks otherwise, or not at all.
const std::vector<std::string> not_for_tasks = {"--on",  "--slurm", "--k8s",  "--continue", "--jobs",
                                                "--out", "--store", "--json", "--quiet",    "--dry-run"};

std::string quoted(const std::string& word) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
        return std::isalnum(c) || std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    return plain ? word : "'" + replace_all(word, "'", "'\\''") + "'";
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
# Written by `strop optimize --on {}`: a task for each problem. What is done is shown and what was begun goes on, so
# that a task may be stopped and started again at any time.
{}cd {} || exit 3
{}results={}
case "{}" in
)";

constexpr const char* tail = R"(    *) echo "there is no task '{}'"; exit 2 ;;
esac
exec >> "$results/$name.log" 2>&1
echo "== $(date -u +%FT%TZ) $(uname -n): {}"
{} optimize "$problem" --continue --out "$results/$name" --store {}{} &
strop=$!
trap 'kill -TERM $strop' TERM INT    # a time limit, preemption, the end of the job: the run is saved
wait $strop; code=$?
while kill -0 $strop 2> /dev/null; do wait $strop; code=$?; done
[ $code = 1 ] && code=0              # nothing faster was found: an answer too
[ $code = 130 ] && echo "strop: {}"
exit $code
)";

}  // namespace

std::string script_text(const TaskScript& script, const ScriptFrame& frame, const Arguments& arguments) {
    const char* home = std::getenv("STROP_HOME");
    const bool same_program = frame.strop.empty();
    std::string text = fmt::format(
        head, frame.on, frame.head, quoted(fs::current_path()),
        home && *home && same_program ? fmt::format("export STROP_HOME={}\n", quoted(fs::absolute(home))) : "",
        quoted(script.folder), frame.task);
    for (size_t i = 0; i < script.names.size(); ++i)
        if (!script.names[i].empty())
            text += fmt::format("    {}) name={} problem={} ;;\n", i, script.names[i], quoted(script.problems[i]));
    std::string flags;
    for (const std::string& word : task_flags(arguments)) flags += " " + quoted(word);
    return text + fmt::format(tail, frame.task, frame.about,
                              same_program ? quoted(fs::read_symlink("/proc/self/exe")) : frame.strop,
                              script.store.empty() ? "\"$results/$name.db\"" : quoted(script.store), flags,
                              stopped_words);
}

std::string shell_line(const std::vector<std::string>& words) {
    std::vector<std::string> parts;
    for (const std::string& word : words) parts.push_back(quoted(word));
    return join(parts, " ");
}

}  // namespace strop::cli
