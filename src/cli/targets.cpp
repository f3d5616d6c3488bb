#include "cli/targets.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/earlier_run.h"
#include "cli/finish.h"
#include "cli/problem_argument.h"
#include "cli/progress.h"
#include "cli/store_access.h"
#include "device/machine.h"
#include "device/target.h"
#include "judge/worker_client.h"
#include "run/target_package.h"
#include "run/worker_uses.h"

namespace strop::cli {

namespace {

AskedTarget asked_target(const std::string& word) {
    const size_t at = word.find('@');
    AskedTarget target{std::string(trim(word.substr(0, at))),
                       at == std::string::npos ? "" : std::string(trim(word.substr(at + 1)))};
    if (!find_target(target.name))
        throw UsageError(fmt::format("--for {}: there is no such target", target.name.empty() ? "''" : target.name),
                         "targets are " + join(target_names(), ", "));
    if (at != std::string::npos && target.worker.empty())
        throw UsageError(fmt::format("--for {}: names no worker", word),
                         fmt::format("--for {}@NAME, a name in workers.yaml", target.name));
    return target;
}

// What a machine cannot execute is said before anything is measured for another target.
void check_executable(const RunOptions& options) {
    const std::string& target = options.settings.target;
    if (options.workers.are_own()) {
        detect_machine(target);
        return;
    }
    judge::WorkerCommand command = options.workers.commands.front();
    command.target = target;
    started(command);
}

class Targets {
public:
    Targets(const std::vector<AskedTarget>& targets, const Arguments& arguments, const OptionsOf& options_of)
        : arguments_(arguments),
          problem_(problem_argument(arguments.all("PROBLEM").front())),
          folder_(options_of(problem_).settings.out) {
        for (const AskedTarget& target : targets) {
            options_.push_back(options_of(problem_));
            aim(options_.back(), target, true);
            options_.back().settings.seed = options_.front().settings.seed;  // alike in all that may be alike
        }
    }

    int run() {
        for (const RunOptions& options : options_) check_executable(options);
        store_ = store_of_run(arguments_);
        try {
            for (size_t i = 0; i < options_.size(); ++i) make(i);
            judge();
        } catch (const Interrupted&) {
            say_how_to_go_on();
            throw;
        } catch (const LostStore&) {
            say_how_to_go_on();
            throw;
        }
        return finish();
    }

private:
    void make(size_t i) {
        const RunOptions& options = options_[i];
        const std::string& target = options.settings.target;
        say(fmt::format("[{}/{}] {}", i + 1, options_.size(), target));
        RunRecord record;
        {
            Progress progress(arguments_.has("--quiet"));
            std::optional<RunRecord> earlier;
            if (arguments_.has("--continue"))
                earlier = earlier_run(*store_, problem_, options, arguments_.has("--seed"));
            record = go_on(earlier, options, *store_, progress);
        }
        std::optional<TargetPart> part = kept_part(*store_, record.run);
        if (!part)
            throw Error(Exit::no_improvement,
                        fmt::format("{}: nothing was found for {}: {}", problem_.name, target, record.verification),
                        fmt::format("strop show {} tells why; the other targets' results are in {}", record.run,
                                    (folder_ / "targets").string()));
        judge::Workers workers = options.workers;
        for (judge::WorkerCommand& command : workers.commands) command.target = target;
        runs_.push_back({std::move(record), std::move(*part), std::move(workers)});
    }

    void judge() {
        Problem swept = problem_;
        keep_points(swept, options_.front().settings.points);
        const TargetPackage package(swept, runs_);
        Progress progress(arguments_.has("--quiet"));
        for (const TargetRun& run : package.runs()) {
            progress.phase("judging the result for all targets: " + run.part.unit.target);
            results_.push_back(
                {run.part.unit.target, run.record, package.judge(run, *store_, [] { check_interrupt(); })});
        }
        progress.phase("writing the result");
        package.write(folder_, results_);
    }

    int finish() const {
        fmt::print("{}", arguments_.has("--json") ? report::targets_json(folder_, results_)
                                                  : report::targets_terminal(folder_, results_));
        return static_cast<int>(report::all_improved(results_) ? Exit::improved : Exit::no_improvement);
    }

    void say(const std::string& line) const {
        if (!arguments_.has("--quiet")) fmt::print(stderr, "{}\n", line);
    }
    void say_how_to_go_on() const { say("the same command with --continue goes on from here"); }

    const Arguments& arguments_;
    const Problem problem_;
    const fs::path folder_;
    std::vector<RunOptions> options_;
    std::unique_ptr<Store> store_;
    std::vector<TargetRun> runs_;
    std::vector<report::TargetResult> results_;
};

}  // namespace

std::vector<AskedTarget> asked_targets(const Arguments& arguments) {
    std::vector<AskedTarget> targets;
    if (!arguments.has("--for")) return targets;
    for (const std::string& word : split(arguments.text("--for"), ',')) {
        const AskedTarget target = asked_target(word);
        if (std::any_of(targets.begin(), targets.end(),
                        [&](const AskedTarget& other) { return other.name == target.name; }))
            throw UsageError(fmt::format("--for: {} is named twice", target.name), "name each target once");
        targets.push_back(target);
    }
    for (const char* flag : {"--on", "--replay"})
        if (arguments.has(flag))
            throw UsageError(fmt::format("--for and {} exclude each other", flag), "leave one of them out");
    if (const std::string device = arguments.text("--device"); device != "cpu")
        throw UsageError(fmt::format("--for and --device {}: targets are instruction sets of processors", device),
                         "leave one of them out");
    for (const char* flag : {"--model", "--record"})
        if (targets.size() > 1 && arguments.has(flag))
            throw UsageError(fmt::format("{} is for one target, not for {}", flag, targets.size()),
                             "run the targets one by one");
    return targets;
}

void aim(RunOptions& options, const AskedTarget& target, bool several) {
    options.settings.target = target.name;
    if (!target.worker.empty()) {
        options.workers.given = {target.worker};
        options.workers.commands = judge::worker_commands(options.workers.given, judge::workers_file());
        note_workers(options.workers, options.settings);
        options.settings.batch_workers = static_cast<int>(options.workers.commands.size());
    }
    if (several) options.settings.out = fs::path(options.settings.out) / "targets" / target.name;
}

int optimize_for(const std::vector<AskedTarget>& targets, const Arguments& arguments, const OptionsOf& options_of) {
    return Targets(targets, arguments, options_of).run();
}

}  // namespace strop::cli
