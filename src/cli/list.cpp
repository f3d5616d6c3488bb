// strop list: problems with their tags and latest speedups.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/store_access.h"
#include "cli/table.h"
#include "core/json.h"
#include "problem/loader.h"

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
            throw UsageError(fmt::format("{}: is no folder", folder),
                             "give the folder that holds problem folders");
        return list_problems(folder);
    }
    std::vector<ProblemSummary> problems;
    std::set<std::string> names;  // the user's own come first and hide those of the same name
    for (const fs::path& place : {fs::path("problems"), home_folder() / "problems"}) {
        if (!fs::is_directory(place, failed)) continue;
        for (const ProblemSummary& problem : list_problems(place))
            if (names.insert(problem.name).second) problems.push_back(problem);
    }
    return problems;
}

std::map<std::string, RunSummary> latest_runs(const Arguments& arguments) {
    std::map<std::string, RunSummary> latest;
    if (std::unique_ptr<Store> store = existing_store(arguments))
        for (const RunSummary& run : store->runs())
            if (run.speedup > 0) latest.emplace(run.problem, run);  // newest first: the first one stays
    return latest;
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
    std::vector<std::vector<std::string>> cells = {
        {"PROBLEM", "TAGS", "POINTS", "SPEEDUP", "OVER", "LAST RUN"}};
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

}  // namespace

int command_list(const Arguments& arguments) {
    std::map<std::string, RunSummary> latest = latest_runs(arguments);
    std::vector<Row> rows;
    for (const ProblemSummary& problem : all_problems(arguments.text("FOLDER")))
        rows.push_back({problem, latest[problem.name]});
    if (arguments.has("--slow"))
        std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
            if (a.run.run.empty() || b.run.run.empty()) return !a.run.run.empty() && b.run.run.empty();
            return a.run.speedup < b.run.speedup;
        });
    fmt::print("{}", arguments.has("--json") ? to_document(rows).dump(2) + "\n" : to_text(rows));
    return 0;
}

}  // namespace strop::cli
