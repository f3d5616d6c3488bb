#include "cli/batch.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "cli/problem_argument.h"
#include "cli/progress.h"
#include "cli/report_file.h"
#include "cli/store_access.h"
#include "cli/table.h"
#include "core/json.h"

namespace strop::cli {

namespace {

struct Entry {
    std::string problem;   // as given until it is loaded, then its name
    std::string outcome = "not begun";
    std::string note;      // "done before", or why it failed
    RunRecord record;      // of a run that ended
};

bool is_finished(const RunRecord& record) {
    return record.outcome == Outcome::improved || record.outcome == Outcome::no_improvement;
}

Json comparable(const RunSettings& settings, bool seed_matters) {
    Json json = settings;
    if (!seed_matters) json.erase("seed");
    return json;
}

// The newest run that was asked for the same; nothing where it failed or its result is gone.
std::optional<RunRecord> earlier_run(Store& store, const Problem& problem, const RunOptions& options, bool seed_matters) {
    const Json wanted = comparable(options.settings, seed_matters);
    for (const RunSummary& summary : store.runs(problem.name)) {
        std::optional<RunRecord> record = store.load_run(summary.run);
        if (!record || record->problem_hash != problem.hash || record->strop_version != options.strop_version ||
            comparable(record->settings, seed_matters) != wanted)
            continue;
        std::error_code failed;
        const bool kept = fs::exists(fs::path(options.settings.out) / "report.json", failed);
        if (record->outcome == Outcome::failed || (is_finished(*record) && !kept)) return {};
        return record;
    }
    return {};
}

void run_one(Entry& entry, const Problem& problem, const RunOptions& options, const Arguments& arguments, Store& store) {
    const std::optional<RunRecord> earlier = earlier_run(store, problem, options, arguments.has("--seed"));
    if (earlier && is_finished(*earlier)) {
        entry.record = *earlier;
        entry.note = "done before";
    } else {
        entry.outcome = "interrupted";   // unless it ends
        Progress progress(arguments.has("--quiet"));
        if (earlier) progress.note("resuming " + earlier->run);
        entry.record = earlier ? resume(earlier->run, 0, options.worker_command, store, progress)
                               : optimize(options, store, progress);
    }
    entry.outcome = name_of(entry.record.outcome);
}

void print_json(const std::vector<Entry>& entries) {
    Json problems = Json::array();
    for (const Entry& entry : entries) {
        Json json = {{"problem", entry.problem}, {"outcome", entry.outcome}, {"note", entry.note}};
        const bool measured = !entry.record.headline_baseline.empty();
        json["run"] = entry.record.run.empty() ? Json() : Json(entry.record.run);
        json["result"] = entry.record.result.empty() ? Json() : Json(entry.record.result);
        json["speedup"] = measured ? Json(entry.record.headline) : Json();
        problems.push_back(json);
    }
    fmt::print("{}\n", dump({{"problems", problems}}, 2));
}

void print_table(const std::vector<Entry>& entries) {
    std::vector<std::vector<std::string>> cells = {{"PROBLEM", "OUTCOME", "SPEEDUP", "RESULT", "NOTE"}};
    for (const Entry& entry : entries) {
        const bool measured = !entry.record.headline_baseline.empty();
        cells.push_back({entry.problem, entry.outcome, measured ? ratio_text(entry.record.headline) : "–",
                         entry.record.result.empty() ? "–" : entry.record.result, entry.note});
    }
    fmt::print("{}", table(cells));
}

}  // namespace

int optimize_batch(const std::vector<std::string>& problems, const Arguments& arguments, const OptionsOf& options_of) {
    std::vector<Entry> entries;
    for (const std::string& given : problems) entries.emplace_back().problem = given;
    auto print = [&] { arguments.has("--json") ? print_json(entries) : print_table(entries); };
    Store store(store_path(arguments));
    std::map<std::string, fs::path> folders;   // by name
    for (size_t i = 0; i < entries.size(); ++i) {
        Entry& entry = entries[i];
        if (!arguments.has("--quiet")) fmt::print(stderr, "[{}/{}] {}\n", i + 1, entries.size(), problems[i]);
        try {
            check_interrupt();
            const Problem problem = problem_argument(problems[i]);
            entry.problem = problem.name;
            if (folders.emplace(problem.name, problem.folder).first->second != problem.folder)
                throw UsageError(fmt::format("{}: another problem of this batch has its name", problems[i]),
                                 "run it by itself, with --out");
            RunOptions options = options_of(problem);
            if (arguments.has("--out")) options.settings.out = fs::path(options.settings.out) / problem.name;
            run_one(entry, problem, options, arguments, store);
        } catch (const Interrupted&) {
            print();
            fmt::print(stderr, "the same command goes on from here\n");
            throw;
        } catch (const Error& error) {
            entry.outcome = "failed";
            entry.note = one_line(error.what());
            fmt::print(stderr, "strop: {}\nhint: {}\n", entry.note, one_line(error.hint()));
        }
    }
    print();
    const bool all = std::all_of(entries.begin(), entries.end(), [](const Entry& entry) {
        return entry.outcome == name_of(Outcome::improved);
    });
    return static_cast<int>(all ? Exit::improved : Exit::no_improvement);
}

}  // namespace strop::cli
