// strop tune: the tunables of one kernel, or a search replayed on a measured space.
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/explanation.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/progress.h"
#include "cli/store_access.h"
#include "core/json.h"
#include "exchange/file.h"
#include "exchange/kernel_tuner.h"
#include "problem/tuner_script.h"
#include "run/measured.h"
#include "tune/replay.h"

namespace strop::cli {

namespace {

void export_space(const tune::MeasuredSpace& space, const Arguments& arguments) {
    if (!arguments.has("--export")) return;
    const std::string format = arguments.text("--format");
    write_named_file(arguments.text("--export"), format == "t1"   ? exchange::write_t1(space)
                                                 : format == "t4" ? exchange::write_t4(space)
                                                                  : exchange::write_kernel_tuner(space));
}

// ---- a measured space ----------------------------------------------------------------------------------

tune::SearchStart start_of(const Arguments& arguments) {
    tune::SearchStart start;
    start.seed = arguments.has("--seed") ? static_cast<uint64_t>(arguments.integer("--seed")) : 0;
    for (const std::string& file : arguments.all("--earlier"))
        start.earlier.push_back(tune::as_earlier_run(exchange::read_measured(file)));
    return start;
}

Json number_or_null(double value) { return std::isnan(value) ? Json() : Json(value); }

void print_replay(const tune::MeasuredSpace& space, const tune::Replay& replay) {
    double share = space.higher_is_better ? replay.best / replay.optimum : replay.optimum / replay.best;
    fmt::print("{} on {}: {} configurations measured before, {} looked up\n", space.kernel, space.device,
               space.entries.size(), replay.trajectory.size());
    if (std::isnan(replay.best)) return fmt::print("all of them had failed\n");
    fmt::print("best {} {:.6g}, {:.1f}% of the optimum's {:.6g}: {}\n", space.objective, replay.best, 100 * share,
               replay.optimum, describe(replay.configuration));
}

int replay_search(const Arguments& arguments) {
    tune::MeasuredSpace space = exchange::read_measured(arguments.text("--replay"));
    if (space.entries.empty())
        throw UsageError(arguments.text("--replay") + ": holds no measured configuration",
                         "`strop tune --space FILE` shows a description");
    tune::SearchStart start = start_of(arguments);
    size_t evaluations = static_cast<size_t>(arguments.integer("--evaluations"));
    tune::Replay replay = tune::replay(space, evaluations > 0 ? evaluations : space.entries.size(), start);
    tune::MeasuredSpace seen = space;
    seen.entries.clear();
    for (size_t entry : replay.measured) seen.entries.push_back(space.entries[entry]);
    export_space(seen, arguments);
    if (!arguments.has("--json")) {
        print_replay(space, replay);
        if (arguments.has("--explain")) print_explanation(tune::entries_of(space), seen);
        return 0;
    }
    Json trajectory = Json::array();
    for (double value : replay.trajectory) trajectory.push_back(number_or_null(value));
    Json evaluated = Json::array();
    for (const tune::Measured& entry : seen.entries) evaluated.push_back(exchange::key_of(space, entry));
    Json document = {{"kernel", space.kernel},
                     {"device", space.device},
                     {"objective", space.objective},
                     {"optimum", replay.optimum},
                     {"best", number_or_null(replay.best)},
                     {"configuration", configuration_to_json(replay.configuration)},
                     {"evaluations", replay.trajectory.size()},
                     {"trajectory", trajectory},
                     {"evaluated", evaluated},
                     {"deciding_seconds", replay.deciding_seconds}};
    if (arguments.has("--explain")) document["explanation"] = explanation_to_json(tune::entries_of(space), seen);
    fmt::print("{}\n", dump(document, 2));
    return 0;
}

// ---- a description -------------------------------------------------------------------------------------

tune::MeasuredSpace described_in(const std::string& file) {
    return fs::path(file).extension() == ".py" ? exchange::parse_measured(t1_of_script(file), file)
                                               : exchange::read_measured(file);
}

int show_space(const Arguments& arguments) {
    tune::MeasuredSpace described = described_in(arguments.text("--space"));
    export_space(described, arguments);
    tune::Space space(described.space);
    double product = 1;
    for (const Tunable& tunable : described.space.tunables) product *= static_cast<double>(tunable.values.size());
    if (arguments.has("--json")) {
        Json document = {{"kernel", described.kernel},
                         {"space", described.space},
                         {"combinations", product},
                         {"configurations", space.size()}};
        fmt::print("{}\n", dump(document, 2));
        return 0;
    }
    fmt::print("{}: {} configurations of {:.6g} combinations\n", described.kernel, space.size(), product);
    for (const Tunable& tunable : described.space.tunables) {
        std::vector<std::string> values;
        for (const Value& value : tunable.values) values.push_back(to_string(value));
        fmt::print("  {} = {}\n", tunable.name, join(values, " | "));
    }
    for (const Expression& constraint : described.space.constraints) fmt::print("  require {}\n", constraint.text());
    return 0;
}

// ---- a kernel ------------------------------------------------------------------------------------------

// Before anything is measured.
void check_space(const TunableSpace& space, const std::string& file) {
    size_t configurations = 0;
    try {
        configurations = tune::Space(space).size();
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("{}: {}", file, error.what()), error.hint());
    }
    if (configurations == 0)
        throw UsageError(fmt::format("{}: no configuration meets the constraints", file),
                         "relax a `// strop:require` or add values");
}

int tune_kernel(const Arguments& arguments) {
    Problem problem = problem_of_compiled(arguments);
    const std::string file = arguments.text("KERNEL");
    const bool on_gpu = fs::path(file).extension() == ".cu";
    const Kernel kernel =
        on_gpu ? read_cuda_kernel(file, problem, "cuda")
               : read_kernel(file, problem, "give a C++ file with `// strop:tune NAME = 1 | 2` comments, or --replay");
    if (kernel.space.tunables.empty())
        throw UsageError(fmt::format("{}: it has no tunables", arguments.text("KERNEL")),
                         "declare some: `// strop:tune UNROLL = 1 | 2 | 4`, or use `strop judge`");
    check_space(kernel.space, arguments.text("KERNEL"));
    RunOptions options = run_options(arguments, problem, kernel.id);
    RunSettings& settings = options.settings;
    if (on_gpu) settings.device = "cuda";
    settings.rounds = 0;           // there is nothing to deepen
    settings.min_improvement = 0;  // the searcher says when little is left to gain
    settings.exhaustive = arguments.has("--exhaustive");
    settings.kernels = {{kernel.id, kernel.source, kernel.language}};
    settings.only_own = true;
    keep_points(problem, settings.points);
    const std::vector<std::string> callable = shapes_of_kernel(file, kernel, problem);
    if (callable.empty())
        throw UsageError(fmt::format("{}: it is for none of the shapes of {}", file, problem.name),
                         "add one to the sweep, or change its `// strop:when`");
    if (callable.size() < problem.points.size()) settings.points = callable;
    install_interrupt_handler(Interruptible::resumable);
    const std::unique_ptr<Store> store = store_of_run(arguments);
    RunRecord record;
    {
        Progress progress(arguments.has("--quiet"));
        record = optimize(options, *store, progress);
    }
    tune::MeasuredSpace measured = measured_space(record, kernel);
    export_space(measured, arguments);
    int code = finish(record, arguments);
    if (arguments.has("--explain") && !arguments.has("--json")) print_explanation(tune::Space(kernel.space), measured);
    return code;
}

}  // namespace

int command_tune(const Arguments& arguments) {
    int given = !arguments.text("KERNEL").empty() + arguments.has("--replay") + arguments.has("--space");
    if (given != 1)
        throw UsageError("give one of a kernel, --replay FILE and --space FILE",
                         "for instance `strop tune kernel.cpp --problem softmax`");
    if (arguments.has("--replay")) return replay_search(arguments);
    if (arguments.has("--earlier"))
        throw UsageError("--earlier is for --replay", "what the store knows takes part in a kernel's tuning by itself");
    if (arguments.has("--space")) return show_space(arguments);
    return tune_kernel(arguments);
}

}  // namespace strop::cli
