#include "cli/batch_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/report_file.h"
#include "cli/table.h"
#include "core/json.h"

namespace strop::cli {

namespace {

void print_json(const std::vector<BatchEntry>& entries) {
    Json problems = Json::array();
    for (const BatchEntry& entry : entries) {
        Json json = {{"problem", entry.problem}, {"outcome", entry.outcome}, {"note", entry.note}};
        const bool measured = !entry.record.headline_baseline.empty();
        json["run"] = entry.record.run.empty() ? Json() : Json(entry.record.run);
        json["result"] = entry.record.result.empty() ? Json() : Json(entry.record.result);
        json["speedup"] = measured ? Json(entry.record.headline) : Json();
        problems.push_back(json);
    }
    fmt::print("{}\n", dump({{"problems", problems}}, 2));
}

void print_table(const std::vector<BatchEntry>& entries) {
    std::vector<std::vector<std::string>> cells = {{"PROBLEM", "OUTCOME", "SPEEDUP", "RESULT", "NOTE"}};
    for (const BatchEntry& entry : entries)
        cells.push_back({entry.problem, entry.outcome, speedup_text(entry),
                         entry.record.result.empty() ? "–" : entry.record.result, entry.note});
    fmt::print("{}", table(cells));
}

}  // namespace

std::vector<BatchEntry> batch_entries(const std::vector<std::string>& problems) {
    std::vector<BatchEntry> entries;
    for (const std::string& given : problems) {
        entries.emplace_back().given = given;
        entries.back().problem = given;
    }
    return entries;
}

std::string speedup_text(const BatchEntry& entry) {
    return entry.record.headline_baseline.empty() ? "–" : ratio_text(entry.record.headline);
}

void print_batch(const std::vector<BatchEntry>& entries, bool as_json) {
    as_json ? print_json(entries) : print_table(entries);
}

int exit_code_of(const std::vector<BatchEntry>& entries) {
    const bool all = std::all_of(entries.begin(), entries.end(),
                                 [](const BatchEntry& entry) { return entry.outcome == name_of(Outcome::improved); });
    return static_cast<int>(all ? Exit::improved : Exit::no_improvement);
}

}  // namespace strop::cli
