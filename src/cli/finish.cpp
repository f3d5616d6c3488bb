#include "cli/finish.h"

#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/store_access.h"
#include "cli/terminal.h"
#include "report/report.h"
#include "run/worker_uses.h"

namespace strop::cli {

namespace {

constexpr size_t result_bytes = 256 << 10;  // about what the files of a result take

}  // namespace

judge::WorkerCommand own_worker() { return {"", {fs::read_symlink("/proc/self/exe").string(), "worker"}}; }

judge::WorkerCommand worker_of(const Arguments& arguments) {
    if (!arguments.has("--worker")) return own_worker();
    judge::WorkerCommand command = judge::worker_command(arguments.text("--worker"), judge::workers_file());
    if (arguments.has("--worker-wait")) command.patience = arguments.duration("--worker-wait");
    return command;
}

judge::Workers workers_of(const Arguments& arguments, const RunSettings& settings) {
    judge::Workers workers;
    workers.given = arguments.all("--worker");
    if (workers.given.empty() && !settings.worker.empty()) {
        workers.given = settings.other_workers;
        workers.given.insert(workers.given.begin(), settings.worker);
    }
    workers.commands = judge::worker_commands(workers.given, judge::workers_file());
    if (workers.are_own()) workers.commands = {own_worker()};
    for (judge::WorkerCommand& command : workers.commands)
        if (arguments.has("--worker-wait")) command.patience = arguments.duration("--worker-wait");
    return workers;
}

judge::WorkerClient started(const judge::WorkerCommand& command) {
    return {command, [] { check_interrupt(); }, [](const std::string& line) { fmt::print(stderr, "{}\n", line); }};
}

RunOptions run_options(const Arguments& arguments, const Problem& problem, const std::string& name) {
    RunOptions options;
    options.problem = problem.folder.string();
    options.workers = workers_of(arguments);
    options.strop_version = STROP_VERSION;
    RunSettings& settings = options.settings;
    note_workers(options.workers, settings);
    settings.batch_workers = static_cast<int>(options.workers.commands.size());
    settings.budget_seconds = arguments.duration("--budget").count();
    settings.evaluations = static_cast<int>(arguments.integer("--evaluations"));
    settings.seed = arguments.seed();
    settings.points = arguments.all("--point");
    settings.winners = static_cast<int>(arguments.integer("--winners"));
    settings.share = shares_work(arguments);
    std::string out = arguments.text("--out");
    settings.out = fs::absolute(out.empty() ? "strop-out/" + name : out).lexically_normal();
    check_points(problem, settings.points);
    check_folder(settings.out);
    return options;
}

void check_points(const Problem& problem, const std::vector<std::string>& labels) {
    std::vector<std::string> known;
    for (const ShapePoint& point : problem.points) known.push_back(point.label);
    for (const std::string& label : labels)
        if (std::find(known.begin(), known.end(), label) == known.end())
            throw UsageError(fmt::format("--point {}: {} has no such shape", label, problem.name),
                             "its shapes are " + join(known, ", "));
}

void check_folder(const std::string& folder) {
    std::error_code ignored;
    bool existed = fs::exists(folder, ignored);
    fs::path probe = fs::path(folder) / ".strop-probe";
    auto tidy = [&] {
        fs::remove(probe, ignored);
        if (!existed) fs::remove(folder, ignored);  // a run that fails leaves no empty folder
    };
    try {
        write_file(probe, std::string(result_bytes, ' '));
    } catch (const EnvironmentError& error) {
        tidy();
        const std::string phrase = error.what();
        throw EnvironmentError(folder + phrase.substr(std::min(probe.string().size(), phrase.size())), error.hint());
    }
    tidy();
}

void check_file(const std::string& flag, const std::string& file) {
    std::error_code failed;
    const fs::file_status status = fs::status(file, failed);
    if (fs::is_directory(status)) throw UsageError(fmt::format("{} {}: is a folder", flag, file), "name a file");
    // A pipe or a device is tried when there is something to write.
    if (!fs::exists(status) || fs::is_regular_file(status)) check_folder(fs::absolute(file).parent_path());
}

int finish(const RunRecord& record, const Arguments& arguments) {
    if (arguments.has("--json")) fmt::print("{}\n", trim(report::json(record)));
    else fmt::print("{}", report::terminal(record, use_color(STDOUT_FILENO), terminal_width()));
    return static_cast<int>(record.outcome == Outcome::improved ? Exit::improved : Exit::no_improvement);
}

}  // namespace strop::cli
