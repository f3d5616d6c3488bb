// strop optimize: the main job.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/batch.h"
#include "cli/commands.h"
#include "cli/earlier_run.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/models.h"
#include "cli/problem_argument.h"
#include "cli/progress.h"
#include "cli/report_file.h"
#include "cli/scheduled_batch.h"
#include "cli/store_access.h"
#include "cli/targets.h"
#include "knowledge/folder.h"
#include "problem/module_import.h"
#include "run/recording.h"

namespace strop::cli {

namespace {

// A server's address stays with the run, which a password must not.
std::string knowledge_server(const StoreAddress& address) {
    if (address.has_password())
        throw UsageError(fmt::format("--knowledge {}: its password would be kept with the run", address.shown()),
                         "put it into ~/.pgpass (a file that PGPASSFILE names), or into PGPASSWORD");
    Store(address, Store::usual_patience, Store::Access::read);
    return address.shown();
}

// Absolute, so that a resumed run finds it; what is wrong with it is said before anything is measured.
std::string knowledge_path(const Arguments& arguments) {
    const fs::path path = arguments.text("--knowledge");
    if (path.empty()) return {};
    if (arguments.has("--no-knowledge"))
        throw UsageError("--knowledge and --no-knowledge exclude each other", "leave one of them out");
    if (const StoreAddress address(path); address.is_server()) return knowledge_server(address);
    std::error_code failed;
    if (!fs::exists(path, failed))
        throw UsageError(fmt::format("{}: there is no such store or folder", path.string()),
                         "name a store, or a folder that `strop knowledge export` wrote");
    if (fs::is_directory(path, failed)) check_knowledge_folder(path);
    else Store(path, Store::usual_patience, Store::Access::read);
    return fs::absolute(path).lexically_normal().string();
}

RunOptions options_of(const Arguments& arguments, const Problem& problem) {
    RunOptions options = run_options(arguments, problem, problem.name);
    RunSettings& settings = options.settings;
    settings.rounds = static_cast<int>(arguments.integer("--rounds"));
    settings.beam = static_cast<int>(arguments.integer("--beam"));
    settings.target_speedup = arguments.number("--target-speedup");
    settings.min_improvement = arguments.number("--min-improvement");
    settings.device = arguments.text("--device");
    for (const std::string& file : arguments.all("--kernel")) {
        const Kernel kernel = settings.device == "cuda" ? read_cuda_kernel(file, problem, settings.device)
                                                        : read_kernel(file, problem, kernel_file_hint);
        settings.kernels.push_back({kernel.id, kernel.source, kernel.language});
    }
    options.knowledge = !arguments.has("--no-knowledge");
    settings.knowledge = knowledge_path(arguments);
    read_model_flags(arguments, options);
    if (settings.device != "cpu" && !settings.models.empty())
        throw UsageError(fmt::format("--model and --device {}: models write C++ only", settings.device),
                         "leave one of them out");
    return options;
}

// A key of a model's provider is out of the program's reach once a run has begun, so a second run could not ask.
void check_batch(const Arguments& arguments, size_t problems) {
    for (const char* flag : {"--kernel", "--point", "--model", "--record", "--replay", "--for"})
        if (arguments.has(flag))
            throw UsageError(fmt::format("{} is for one problem, not for {}", flag, problems),
                             "run the problems one by one");
}

// A folder of Python files, as KernelBench has them, stands for its files.
std::vector<std::string> given_problems(const Arguments& arguments) {
    std::vector<std::string> problems;
    for (const std::string& given : arguments.all("PROBLEM")) {
        std::vector<std::string> files;
        std::error_code failed;
        if (!fs::exists(fs::path(given) / "problem.yaml", failed) && !is_importable(given))
            for (const fs::directory_entry& entry : fs::directory_iterator(given, failed))
                if (entry.path().extension() == ".py" &&
                    read_file(entry.path()).find("class Model") != std::string::npos)
                    files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        if (files.empty()) files = {given};
        problems.insert(problems.end(), files.begin(), files.end());
    }
    return problems;
}

// A result of another problem that has the same name.
void say_what_is_replaced(const Problem& problem, const std::string& out) try {
    std::error_code failed;
    if (!fs::exists(fs::path(out) / "report.json", failed)) return;
    const RunRecord earlier = read_report_file(out).record;
    if (earlier.problem_hash == problem.hash || earlier.problem_folder.empty() ||
        fs::weakly_canonical(earlier.problem_folder, failed) == fs::weakly_canonical(problem.folder, failed))
        return;
    fmt::print(stderr, "! {} holds the result of another {}, in {}: it is replaced; --out keeps both\n", out,
               problem.name, earlier.problem_folder);
} catch (const UsageError&) {
    // No report that can be read.
}

}  // namespace

int command_optimize(const Arguments& arguments) {
    const std::vector<std::string> problems = given_problems(arguments);
    const OptionsOf of_problem = [&](const Problem& problem) { return options_of(arguments, problem); };
    check_scheduler_flags(arguments);
    const std::vector<AskedTarget> targets = asked_targets(arguments);
    if (problems.size() > 1) check_batch(arguments, problems.size());
    if (arguments.has("--on") || problems.size() > 1) {
        install_interrupt_handler(Interruptible::resumable);
        return (arguments.has("--on") ? optimize_elsewhere : optimize_batch)(problems, arguments, of_problem);
    }
    if (arguments.has("--continue") && arguments.has("--replay"))
        throw UsageError("--continue and --replay exclude each other", "leave one of them out");
    if (targets.size() > 1) {
        install_interrupt_handler(Interruptible::resumable);
        return optimize_for(targets, arguments, of_problem);
    }
    const Problem problem = problem_argument(problems.front(), arguments.text("--dtype"));
    RunOptions options = of_problem(problem);
    if (!targets.empty()) aim(options, targets.front(), false);
    say_what_is_replaced(problem, options.settings.out);

    install_interrupt_handler(Interruptible::resumable);
    const std::unique_ptr<Store> store = store_of_run(arguments);
    RunRecord record;
    {
        Progress progress(arguments.has("--quiet"));  // takes its block off the screen before the result is printed
        std::optional<RunRecord> earlier;
        if (arguments.has("--continue")) earlier = earlier_run(*store, problem, options, arguments.has("--seed"));
        record = go_on(earlier, options, *store, progress);
    }
    if (arguments.has("--record")) write_recording(arguments.text("--record"), *store, record);
    return finish(record, arguments);
}

}  // namespace strop::cli
