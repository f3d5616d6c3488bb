// strop optimize: the main job.
#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/progress.h"
#include "cli/store_access.h"
#include "cli/models.h"
#include "cli/problem_argument.h"
#include "run/recording.h"

namespace strop::cli {

int command_optimize(const Arguments& arguments) {
    Problem problem = problem_argument(arguments.text("PROBLEM"));
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
