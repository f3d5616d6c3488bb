// strop optimize: the main job.
#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/batch.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/progress.h"
#include "cli/store_access.h"
#include "cli/models.h"
#include "cli/problem_argument.h"
#include "run/recording.h"

namespace strop::cli {

namespace {

RunOptions options_of(const Arguments& arguments, const Problem& problem) {
    RunOptions options = run_options(arguments, problem, problem.name);
    RunSettings& settings = options.settings;
    settings.rounds = static_cast<int>(arguments.integer("--rounds"));
    settings.beam = static_cast<int>(arguments.integer("--beam"));
    settings.target_speedup = arguments.number("--target-speedup");
    settings.min_improvement = arguments.number("--min-improvement");
    for (const std::string& file : arguments.all("--kernel")) {
        const Kernel kernel = read_kernel(file, kernel_file_hint);
        settings.kernels.push_back({kernel.id, kernel.source});
    }
    options.knowledge = !arguments.has("--no-knowledge");
    read_model_flags(arguments, options);
    return options;
}

// A key of a model's provider is out of the program's reach once a run has begun, so a second run could not ask.
void check_batch(const Arguments& arguments) {
    for (const char* flag : {"--kernel", "--point", "--model", "--record", "--replay"})
        if (arguments.has(flag))
            throw UsageError(fmt::format("{} is for one problem, not for {}", flag, arguments.all("PROBLEM").size()),
                             "run the problems one by one");
}

}  // namespace

int command_optimize(const Arguments& arguments) {
    if (const std::vector<std::string> problems = arguments.all("PROBLEM"); problems.size() > 1) {
        check_batch(arguments);
        install_interrupt_handler();
        return optimize_batch(problems, arguments,
                              [&](const Problem& problem) { return options_of(arguments, problem); });
    }
    const RunOptions options = options_of(arguments, problem_argument(arguments.text("PROBLEM")));

    install_interrupt_handler();
    Store store(store_path(arguments));
    RunRecord record;
    {
        Progress progress(arguments.has("--quiet"));   // takes its block off the screen before the result is printed
        record = optimize(options, store, progress);
    }
    if (arguments.has("--record")) write_recording(arguments.text("--record"), store, record);
    return finish(record, arguments);
}

}  // namespace strop::cli
