// strop list: problems with their tags and latest speedups; --slow: stored results by what they leave to gain.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/problem_argument.h"
#include "cli/store_access.h"
#include "cli/table.h"
#include "core/json.h"
#include "problem/loader.h"
#include "report/format.h"
#include "report/speed_class.h"

namespace strop::cli {

namespace {

struct Row {
    ProblemSummary problem;
    RunSummary run;  // the latest that ended with a speedup; empty name: none
};

std::vector<ProblemSummary> all_problems(const std::string& folder) {
    std::error_code failed;
    if (!folder.empty()) {
        if (!fs::is_directory(folder, failed))
            throw UsageError(fmt::format("{}: is no folder", folder), "give the folder that holds problem folders");
        return list_problems(folder);
    }
    return known_problems();
}

// The latest run of a problem that ended with a speedup: of this problem, where others have its name.
struct Latest {
    RunSummary summary;
    RunRecord record;
};

std::optional<Latest> latest_of(Store& store, const ProblemSummary& problem) {
    if (!problem.error.empty()) return std::nullopt;
    std::error_code failed;
    for (const RunSummary& run : store.runs(problem.problem)) {
        if (run.speedup <= 0) continue;
        std::optional<RunRecord> record = store.load_named(run.run);  // newest first
        if (record &&
            (record->problem_hash == problem.hash || fs::equivalent(record->problem_folder, problem.folder, failed)))
            return Latest{run, std::move(*record)};
    }
    return std::nullopt;
}

Json to_document(const std::vector<Row>& rows) {
    Json document = Json::array();
    for (const Row& row : rows) {
        Json entry = {{"name", row.problem.name},
                      {"folder", row.problem.folder.string()},
                      {"tags", row.problem.tags},
                      {"points", row.problem.points}};
        if (!row.problem.error.empty()) entry["error"] = row.problem.error;
        if (!row.run.run.empty())
            entry["last_run"] = {{"run", row.run.run},
                                 {"started", row.run.started},
                                 {"speedup", row.run.speedup},
                                 {"baseline", row.run.baseline}};
        document.push_back(entry);
    }
    return document;
}

std::string to_text(const std::vector<Row>& rows) {
    if (rows.empty()) return "no problems here; `strop list FOLDER` looks elsewhere\n";
    std::vector<std::vector<std::string>> cells = {{"PROBLEM", "TAGS", "POINTS", "SPEEDUP", "OVER", "LAST RUN"}};
    for (const Row& row : rows) {
        if (!row.problem.error.empty()) {
            cells.push_back({row.problem.name, "cannot be loaded: " + row.problem.error});
            continue;
        }
        bool ran = !row.run.run.empty();
        cells.push_back({row.problem.name, join(row.problem.tags, ","), std::to_string(row.problem.points),
                         ran ? fmt::format("{:.2f}x", row.run.speedup) : "-", ran ? row.run.baseline : "-",
                         ran ? row.run.run : "-"});
    }
    return table(cells);
}

// The latest result of a problem; nothing where it has none that says a speedup.
struct SlowRow {
    std::string problem;
    std::optional<RunRecord> record;
    report::Standpoint standpoint;
    std::string error;  // why the problem cannot be loaded
};

double threshold_of(const Arguments& arguments) {
    const double threshold = arguments.number("--threshold");
    if (threshold <= 0 || threshold > 1)
        throw UsageError(fmt::format("--threshold: '{}' does not fit", arguments.text("--threshold")),
                         "give a number above 0, at most 1");
    if (arguments.has("--threshold") && !arguments.has("--slow"))
        throw UsageError("--threshold is for --slow", "strop list --slow --threshold 0.9");
    return threshold;
}

// Problems of the listing, and without a folder also those that only the store knows.
std::vector<SlowRow> slow_rows(const Arguments& arguments, double threshold) {
    const std::unique_ptr<Store> store = existing_store(arguments);
    std::vector<SlowRow> rows;
    auto add = [&](SlowRow row) {
        if (row.record) row.standpoint = report::standpoint(*row.record, threshold);
        rows.push_back(std::move(row));
    };
    std::set<std::string> listed;
    for (const ProblemSummary& problem : all_problems(arguments.text("FOLDER"))) {
        std::optional<Latest> latest = store ? latest_of(*store, problem) : std::nullopt;
        if (latest) listed.insert(problem.problem);
        add({problem.name, latest ? std::optional(std::move(latest->record)) : std::nullopt, {}, problem.error});
    }
    std::map<std::string, std::string> others;  // by problem: the latest run
    if (store && arguments.text("FOLDER").empty())
        for (const RunSummary& run : store->runs())  // newest first: the first one stays
            if (run.speedup > 0 && listed.count(run.problem) == 0) others.emplace(run.problem, run.run);
    for (const auto& [problem, run] : others) add({problem, store->load_named(run), {}, ""});
    std::stable_sort(rows.begin(), rows.end(), [](const SlowRow& a, const SlowRow& b) {
        if (!a.record || !b.record) return a.record && !b.record;
        if (a.standpoint.value != b.standpoint.value) return a.standpoint.value < b.standpoint.value;
        return a.record->headline.ratio < b.record->headline.ratio;
    });
    return rows;
}

Json slow_document(const std::vector<SlowRow>& rows, double threshold) {
    Json results = Json::array();
    for (const SlowRow& row : rows) {
        Json& entry = results.emplace_back(Json{{"problem", row.problem}, {"class", nullptr}});
        if (!row.error.empty()) entry["error"] = row.error;
        if (!row.record) continue;
        const report::Standpoint& at = row.standpoint;
        entry["class"] = report::name_of(at.value);
        entry["run"] = row.record->run;
        entry["result"] = row.record->result;
        entry["speedup"] = row.record->headline;
        entry["roofline_share"] = at.roofline_share > 0 ? Json(at.roofline_share) : Json();
        entry["worst"] = {{"shape", at.shape}, {"baseline", nullptr}, {"speedup", nullptr}};
        if (!at.baseline.empty()) entry["worst"].update({{"baseline", at.baseline}, {"speedup", at.speedup}});
    }
    return {{"threshold", threshold}, {"results", results}};
}

std::string slow_text(const std::vector<SlowRow>& rows) {
    if (rows.empty()) return "no problems here; `strop list FOLDER` looks elsewhere\n";
    std::vector<std::vector<std::string>> cells = {
        {"PROBLEM", "CLASS", "SPEEDUP", "ROOFLINE", "WORST SHAPE", "OVER", "RUN"}};
    for (const SlowRow& row : rows) {
        if (!row.record) {
            cells.push_back({row.problem, row.error.empty() ? "no result" : "cannot be loaded: " + row.error});
            continue;
        }
        const report::Standpoint& at = row.standpoint;
        const bool compared = !at.baseline.empty();
        cells.push_back({row.problem, report::name_of(at.value), report::ratio_text(row.record->headline.ratio),
                         at.roofline_share > 0 ? report::percent_text(at.roofline_share) : "-",
                         compared ? fmt::format("{} {}", at.shape, report::ratio_text(at.speedup.ratio)) : at.shape,
                         compared ? at.baseline : "-", row.record->run});
    }
    return table(cells);
}

}  // namespace

int command_list(const Arguments& arguments) {
    const double threshold = threshold_of(arguments);
    if (arguments.has("--slow")) {
        const std::vector<SlowRow> rows = slow_rows(arguments, threshold);
        fmt::print("{}", arguments.has("--json") ? dump(slow_document(rows, threshold), 2) + "\n" : slow_text(rows));
        return 0;
    }
    const std::unique_ptr<Store> store = existing_store(arguments);
    std::vector<Row> rows;
    for (const ProblemSummary& problem : all_problems(arguments.text("FOLDER"))) {
        const std::optional<Latest> latest = store ? latest_of(*store, problem) : std::nullopt;
        rows.push_back({problem, latest ? latest->summary : RunSummary()});
    }
    fmt::print("{}", arguments.has("--json") ? to_document(rows).dump(2) + "\n" : to_text(rows));
    return 0;
}

}  // namespace strop::cli
