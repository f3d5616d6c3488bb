#include "cli/earlier_run.h"

#include "base/file.h"
#include "core/json.h"

namespace strop::cli {

namespace {

Json comparable(const RunSettings& settings, bool seed_matters) {
    Json json = settings;
    json.erase("shared_seconds");  // a batch gave it
    if (!seed_matters) json.erase("seed");
    return json;
}

}  // namespace

std::optional<RunRecord> earlier_run(Store& store, const Problem& problem, const RunOptions& options,
                                     bool seed_matters) {
    const Json wanted = comparable(options.settings, seed_matters);
    for (const RunSummary& summary : store.runs(problem.name)) {
        std::optional<RunRecord> record = store.load_run(summary.run);
        if (!record || !record->origin.empty() || record->problem_hash != problem.hash ||
            record->strop_version != options.strop_version || comparable(record->settings, seed_matters) != wanted)
            continue;
        std::error_code failed;
        const bool kept = fs::exists(fs::path(options.settings.out) / "report.json", failed);
        if (record->outcome == Outcome::failed || (record->is_finished() && !kept)) return {};
        return record;
    }
    return {};
}

RunRecord go_on(const std::optional<RunRecord>& earlier, const RunOptions& options, Store& store, View& view) {
    if (!earlier) return optimize(options, store, view);
    if (earlier->is_finished()) return *earlier;
    view.note("resuming " + earlier->run);
    return resume(earlier->run, {0, options.search_share, {}, options.waiting}, options.workers, store, view);
}

}  // namespace strop::cli
