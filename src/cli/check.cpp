// strop check: do results still do what their reports say?
#include <algorithm>
#include <cstdio>
#include <random>

#include <fmt/format.h>

#include "base/citation.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/problem_argument.h"
#include "cli/report_file.h"
#include "cli/table.h"
#include "core/json.h"
#include "problem/loader.h"
#include "run/promise.h"

namespace strop::cli {

namespace {

struct Checked {
    std::string given;
    RunRecord report;
    Problem problem;
    Kernel kernel;
};

// The shapes of the report that the problem still has.
void keep_reported(Problem& problem, const RunRecord& report) {
    std::erase_if(problem.points, [&](const ShapePoint& point) {
        return std::none_of(report.shapes.begin(), report.shapes.end(), [&](const ShapeReport& shape) {
            return shape.label == point.label && shape.dims == point.dims;
        });
    });
}

Checked prepare(const std::string& given, const Arguments& arguments) {
    ReportFile file = read_report_file(given);
    const std::string other = arguments.text("--problem");
    std::error_code failed;
    if (other.empty() && !fs::exists(file.record.problem_folder, failed))
        throw UsageError(fmt::format("{}: its problem's folder is gone: {}", given, file.record.problem_folder),
                         "name the problem with --problem DIR");
    Problem problem = problem_argument(other.empty() ? file.record.problem_folder : other);
    if (problem.name != file.record.problem)
        throw UsageError(fmt::format("{}: is a result of {}, not of {}", given, file.record.problem, problem.name),
                         "name its problem with --problem DIR");
    keep_reported(problem, file.record);
    if (problem.points.empty())
        throw UsageError(fmt::format("{}: {} has none of its shapes any more", given, problem.name),
                         "start a new run: strop optimize " + problem.folder.string());
    const fs::path source = file.folder / (problem.name + ".cpp");
    if (!fs::is_regular_file(source, failed))
        throw UsageError(fmt::format("{}: there is no kernel", source.string()),
                         "a run that found none leaves a report only; else run `strop optimize` again");
    Kernel kernel = promised_kernel(file.record, read_file(source));
    check_memory(problem);
    return {given, std::move(file.record), std::move(problem), std::move(kernel)};
}

std::vector<std::string> notes_of(const Checked& checked, const PromiseCheck& check) {
    std::vector<std::string> notes;
    if (!check.same_machine)
        notes.push_back(fmt::format("another machine than the report's ({}, {} cores): speedups are shown and not held to it",
                                    checked.report.machine.cpu, checked.report.machine.cores));
    if (checked.problem.hash != checked.report.problem_hash) notes.push_back("the problem has changed since the report");
    if (const size_t gone = checked.report.shapes.size() - checked.problem.points.size(); gone > 0)
        notes.push_back(fmt::format("{} of the report's shapes are no longer in the problem", gone));
    return notes;
}

// The word for a shape.
std::string standing(const report::Change& change, bool same_machine) {
    if (change.baseline.empty()) return "not compared";
    if (!same_machine || change.decision != Decision::slower)
        return change.decision == Decision::faster ? "faster" : "ok";
    return "slower";
}

std::string verdict_of(const PromiseCheck& check) {
    if (!check.judgement.evaluation.ok()) return name_of(check.judgement.evaluation.verdict);
    if (check.kept) return "ok";
    const bool slower = std::any_of(check.changes.begin(), check.changes.end(),
                                    [](const report::Change& change) { return change.decision == Decision::slower; });
    return slower ? "slower" : "not compared";
}

Json json_of(const Checked& checked, const PromiseCheck& check) {
    Json shapes = Json::array();
    for (const report::Change& change : check.changes) {
        Json shape = {{"label", change.label}, {"dims", change.dims}, {"verdict", standing(change, check.same_machine)},
                      {"baseline", nullptr}};
        if (!change.baseline.empty())
            shape.update({{"baseline", change.baseline},
                          {"promised", change.before},
                          {"now", change.after},
                          {"change", change.change}});
        shapes.push_back(shape);
    }
    return {{"result", checked.given},
            {"problem", checked.problem.name},
            {"run", checked.report.run},
            {"verdict", verdict_of(check)},
            {"evidence", check.judgement.evaluation.evidence},
            {"same_machine", check.same_machine},
            {"notes", notes_of(checked, check)},
            {"shapes", shapes},
            {"seconds", check.judgement.seconds}};
}

void print_text(const Checked& checked, const PromiseCheck& check) {
    fmt::print("{}: {}\n", checked.given, verdict_of(check));
    if (!check.judgement.evaluation.evidence.empty()) fmt::print("{}\n", cited(check.judgement.evaluation.evidence));
    std::vector<std::vector<std::string>> cells = {{"SHAPE", "VERDICT", "OVER", "PROMISED", "NOW", "CHANGE"}};
    for (const report::Change& change : check.changes)
        if (change.baseline.empty()) cells.push_back({change.label, standing(change, check.same_machine), "no baseline of the report ran"});
        else
            cells.push_back({change.label, standing(change, check.same_machine), change.baseline,
                             ratio_text(change.before), ratio_text(change.after), ratio_text(change.change)});
    if (cells.size() > 1) fmt::print("{}", table(cells));
    for (const std::string& note : notes_of(checked, check)) fmt::print("! {}\n", note);
}

PromiseCheck run_check(const Checked& checked, const Arguments& arguments) {
    std::vector<std::string> labels;
    for (const ShapePoint& point : checked.problem.points) labels.push_back(point.label);
    judge::WorkerClient worker(worker_command(), checked.problem.folder.string(), labels, std::random_device{}(),
                               [] { check_interrupt(); });
    PromiseCheck check = check_promise(
        worker, checked.problem, checked.report, checked.kernel,
        {arguments.duration("--per-shape"), arguments.number("--tolerance"), std::random_device{}()});
    std::string& evidence = check.judgement.evaluation.evidence;
    evidence = with_file_name(evidence, checked.problem.name + ".cpp");
    return check;
}

}  // namespace

int command_check(const Arguments& arguments) {
    std::vector<Checked> all;   // what is wrong with an argument is said before anything is measured
    for (const std::string& given : arguments.all("RESULT")) all.push_back(prepare(given, arguments));
    install_interrupt_handler();
    bool kept = true;
    Json results = Json::array();
    for (const Checked& checked : all) {
        const PromiseCheck check = run_check(checked, arguments);
        kept = kept && check.kept;
        if (arguments.has("--json")) {
            results.push_back(json_of(checked, check));
            continue;
        }
        if (&checked != &all.front()) fmt::print("\n");
        print_text(checked, check);
        std::fflush(stdout);
    }
    if (arguments.has("--json")) fmt::print("{}\n", dump({{"kept", kept}, {"results", results}}, 2));
    return kept ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
