#include "run/first_record.h"

#include <ctime>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "problem/loader.h"
#include "run/recording.h"
#include "run/worker_uses.h"

namespace strop {

namespace {

std::string new_run_id(const std::string& problem) {
    return fmt::format("{}-{:%Y%m%d-%H%M%S}-{:04x}", problem, fmt::gmtime(std::time(nullptr)),
                       std::random_device{}() & 0xffff);
}

}  // namespace

RunRecord new_record(const Problem& problem, const RunOptions& options, Store& store) {
    RunRecord record;
    record.run = new_run_id(problem.name);
    record.started = utc_now();
    record.strop_version = options.strop_version;
    record.problem = problem.name;
    record.problem_folder = problem.folder.string();
    record.problem_hash = problem.hash;
    record.tags = problem.tags;
    record.settings = options.settings;
    note_workers(options.workers, record.settings);
    if (!options.replay) return record;
    Recording recording = read_recording(*options.replay);
    if (recording.problem_hash != problem.hash)
        throw UsageError(fmt::format("{}: was recorded of another problem than {}", options.replay->string(),
                                     problem.folder.string()),
                         "the problem must be the same in every byte");
    record.settings = recording.settings;
    record.settings.out = options.settings.out;
    record.settings.share = false;  // it has its evaluations
    note_workers(options.workers, record.settings);
    copy_into(store, record.run, recording);
    return record;
}

RunRecord record_of(const std::string& run, Store& store) {
    const std::optional<RunRecord> found = store.load_run(run);
    if (!found) throw UsageError(fmt::format("no run '{}'", run), "strop runs lists them");
    if (found->is_finished() || load_problem(found->problem_folder).hash == found->problem_hash) return *found;
    throw UsageError(fmt::format("{}: the problem has changed since run {}", found->problem_folder, found->run),
                     "start a new run: strop optimize " + found->problem_folder);
}

}  // namespace strop
