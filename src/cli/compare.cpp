// strop compare: two results of one problem, shape by shape.
#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/report_file.h"
#include "cli/table.h"
#include "core/json.h"
#include "report/change.h"

namespace strop::cli {

namespace {

const char* faster(Decision decision) {
    return decision == Decision::faster ? "new" : decision == Decision::slower ? "old" : "undecided";
}

void print_json(const RunRecord& before, const RunRecord& after, const std::vector<report::Change>& changes) {
    Json shapes = Json::array();
    for (const report::Change& change : changes) {
        Json shape = {{"label", change.label}, {"dims", change.dims}, {"baseline", nullptr}};
        if (!change.baseline.empty())
            shape.update({{"baseline", change.baseline},
                          {"old", change.before},
                          {"new", change.after},
                          {"change", change.change},
                          {"faster", faster(change.decision)}});
        shapes.push_back(shape);
    }
    const std::optional<Ratio> whole = report::overall(changes);
    fmt::print("{}\n", dump({{"problem", before.problem},
                             {"old", before.run},
                             {"new", after.run},
                             {"doubts", report::doubts(before, after)},
                             {"shapes", shapes},
                             {"change", whole ? Json(*whole) : Json()}},
                            2));
}

void print_text(const RunRecord& before, const RunRecord& after, const std::vector<report::Change>& changes) {
    fmt::print("{}: {} (old) and {} (new)\n\n", before.problem, before.run, after.run);
    std::vector<std::vector<std::string>> cells = {{"SHAPE", "OVER", "OLD", "NEW", "CHANGE", "FASTER"}};
    for (const report::Change& change : changes)
        if (change.baseline.empty()) cells.push_back({change.label, "no common baseline"});
        else
            cells.push_back({change.label, change.baseline, ratio_text(change.before), ratio_text(change.after),
                             ratio_text(change.change), faster(change.decision)});
    fmt::print("{}", table(cells));
    if (const std::optional<Ratio> whole = report::overall(changes))
        fmt::print("\n{}, geometric mean over shapes; above 1: the new one is faster\n", ratio_text(*whole));
    for (const std::string& doubt : report::doubts(before, after)) fmt::print("! {}\n", doubt);
}

}  // namespace

int command_compare(const Arguments& arguments) {
    const RunRecord before = read_report_file(arguments.text("OLD")).record;
    const RunRecord after = read_report_file(arguments.text("NEW")).record;
    if (before.problem != after.problem)
        throw UsageError(fmt::format("{} and {} are results of two problems: {} and {}", arguments.text("OLD"),
                                     arguments.text("NEW"), before.problem, after.problem),
                         "give two results of the same problem");
    const std::vector<report::Change> changes = report::changes(before, after, arguments.number("--tolerance"));
    if (changes.empty())
        throw UsageError(fmt::format("{} and {} have no shape in common", arguments.text("OLD"), arguments.text("NEW")),
                         "shapes are the same when label and dimensions are");
    if (arguments.has("--json")) print_json(before, after, changes);
    else print_text(before, after, changes);
    return 0;
}

}  // namespace strop::cli
