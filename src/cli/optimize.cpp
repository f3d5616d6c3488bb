// strop optimize: the main job.
#include <unistd.h>

#include <filesystem>
#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/progress.h"
#include "cli/store_access.h"
#include "cli/models.h"
#include "problem/loader.h"
#include "run/recording.h"

namespace strop::cli {

int command_optimize(const Arguments& arguments) {
    Problem problem = load_problem(arguments.text("PROBLEM"));
    RunOptions options;
    options.problem = problem.folder.string();
    options.worker_command = worker_command();
    options.strop_version = STROP_VERSION;
    RunSettings& settings = options.settings;
    settings.budget_seconds = arguments.duration("--budget").count();
    settings.evaluations = static_cast<int>(arguments.integer("--evaluations"));
    settings.rounds = static_cast<int>(arguments.integer("--rounds"));
    settings.beam = static_cast<int>(arguments.integer("--beam"));
    settings.target_speedup = arguments.number("--target-speedup");
    settings.min_improvement = arguments.number("--min-improvement");
    // Without --seed the inputs are those that nobody could foresee.
    settings.seed = arguments.has("--seed") ? static_cast<uint64_t>(arguments.integer("--seed"))
                                            : std::random_device{}();
    settings.points = arguments.all("--point");
    read_model_flags(arguments, options);
    std::string out = arguments.text("--out");
    settings.out = std::filesystem::absolute(out.empty() ? "strop-out/" + problem.name : out).lexically_normal();
    check_points(problem, settings.points);
    check_folder(settings.out);

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
