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
#include "report/checked.h"
#include "run/promise.h"
#include "run/result_folder.h"

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
    const fs::path source = file.folder / (problem.name + source_ending(file.record));
    if (!fs::is_regular_file(source, failed))
        throw UsageError(fmt::format("{}: there is no kernel", source.string()),
                         "a run that found none leaves a report only; else run `strop optimize` again");
    Kernel kernel = promised_kernel(file.record, read_file(source));
    return {given, std::move(file.record), std::move(problem), std::move(kernel)};
}

// What a result is held to, by its report or an earlier check.
struct Held {
    Promise promise;
    std::string to = "its report";
    std::vector<std::string> notes;
};

// The entry of the baseline that is about this result; null where there is none.
const report::CheckedResult* entry_for(const Checked& checked, const std::vector<report::CheckedResult>& baseline) {
    const report::CheckedResult* found = nullptr;
    for (const report::CheckedResult& entry : baseline) {
        if (entry.problem != checked.problem.name) continue;
        if (!found || entry.given == checked.given) found = &entry;
    }
    return found;
}

Held held_to(const Checked& checked, const std::vector<report::CheckedResult>& baseline, const std::string& file,
             const std::string& fingerprint) {
    Held held{{checked.report, std::nullopt}};
    if (!checked.report.function.empty())
        held.promise.kernel = promised_kernel(checked.report, checked.report.function);
    if (file.empty()) return held;
    const report::CheckedResult* entry = entry_for(checked, baseline);
    std::string why;
    if (!entry) why = "has nothing of " + checked.problem.name;
    else if (entry->now.empty()) why = "has no measurement of it";
    else if (entry->machine.fingerprint != fingerprint)
        why = fmt::format("is of another machine ({}, {} cores)", entry->machine.cpu, entry->machine.cores);
    else if (entry->problem_hash != checked.problem.hash) why = "is of the problem before it changed";
    if (!why.empty()) {
        held.notes.push_back(fmt::format("{} {}: held to its own report", file, why));
        return held;
    }
    held.to = file;
    held.promise.report.machine = entry->machine;
    held.promise.report.shapes = entry->now;
    held.promise.kernel = entry->kernel;
    const auto absent =
        std::count_if(checked.problem.points.begin(), checked.problem.points.end(), [&](const ShapePoint& point) {
            return std::none_of(entry->now.begin(), entry->now.end(), [&](const ShapeReport& shape) {
                return shape.label == point.label && shape.dims == point.dims;
            });
        });
    if (absent > 0) held.notes.push_back(fmt::format("{} of its shapes are not in {}", absent, file));
    return held;
}

std::vector<std::string> notes_of(const Checked& checked, const Held& held, const PromiseCheck& check) {
    std::vector<std::string> notes = held.notes;
    if (check.same_machine) notes.insert(notes.end(), check.notes.begin(), check.notes.end());
    if (!check.same_machine)
        notes.push_back(
            fmt::format("another machine than the report's ({}, {} cores): speedups are shown and not held to it",
                        checked.report.machine.cpu, checked.report.machine.cores));
    if (checked.problem.hash != checked.report.problem_hash)
        notes.push_back("the problem has changed since the report");
    if (const size_t gone = checked.report.shapes.size() - checked.problem.points.size(); gone > 0)
        notes.push_back(fmt::format("{} of the report's shapes are no longer in the problem", gone));
    return notes;
}

std::string verdict_of(const PromiseCheck& check) {
    if (!check.judgement.evaluation.ok()) return name_of(check.judgement.evaluation.verdict);
    if (check.kept) return "ok";
    const bool slower = std::any_of(check.changes.begin(), check.changes.end(),
                                    [](const report::Change& change) { return change.decision == Decision::slower; });
    return slower ? "slower" : "not compared";
}

void print_text(const report::CheckedResult& result) {
    fmt::print("{}: {}\n", result.given, result.verdict);
    if (!result.evidence.empty()) fmt::print("{}\n", cited(result.evidence));
    std::vector<std::vector<std::string>> cells = {{"SHAPE", "VERDICT", "OVER", "PROMISED", "NOW", "CHANGE"}};
    for (const report::Change& change : result.changes)
        if (change.baseline.empty())
            cells.push_back({change.label, report::standing(change, result.held), "no baseline of then ran"});
        else
            cells.push_back({change.label, report::standing(change, result.held), change.baseline,
                             ratio_text(change.before), ratio_text(change.after), ratio_text(change.change)});
    if (cells.size() > 1) fmt::print("{}", table(cells));
    for (const std::string& note : result.notes) fmt::print("! {}\n", note);
}

// What of the command line is the same for each result.
struct Course {
    judge::WorkerCommand command;
    double tolerance = 0;
    Seconds per_shape{0};
    std::string baseline_file;
    std::vector<report::CheckedResult> baseline;
};

report::CheckedResult run_check(const Checked& checked, const Course& course) {
    judge::WorkerCommand command = course.command;
    if (checked.kernel.language == Language::cuda) command.device = "cuda";
    judge::WorkerClient worker = started(command);
    const Held held = held_to(checked, course.baseline, course.baseline_file, worker.machine_fingerprint());
    const Problem problem = worker.open(checked.problem, labels_of(checked.problem), std::random_device{}());
    const PromiseCheck check = check_promise(worker, problem, held.promise, checked.kernel,
                                             {course.per_shape, course.tolerance, std::random_device{}()});
    report::CheckedResult result;
    result.given = checked.given;
    result.problem = checked.problem.name;
    result.problem_hash = checked.problem.hash;
    result.run = checked.report.run;
    result.machine = worker.greeting().machine;
    result.verdict = verdict_of(check);
    result.evidence =
        with_file_name(check.judgement.evaluation.evidence, checked.problem.name + source_ending(checked.report));
    result.right = check.judgement.evaluation.ok();
    result.kept = check.kept;
    result.held = check.same_machine;
    result.held_to = held.to;
    result.notes = notes_of(checked, held, check);
    result.changes = check.changes;
    result.now = check.now;
    result.kernel = checked.kernel;
    result.seconds = check.judgement.seconds;
    return result;
}

// All that have a kernel in strop-out, where none is named.
std::vector<std::string> given_results(const Arguments& arguments) {
    std::vector<std::string> given = arguments.all("RESULT");
    if (!given.empty()) return given;
    std::error_code failed;
    for (const fs::directory_entry& entry : fs::directory_iterator("strop-out", failed)) {
        const fs::path file = entry.path() / "report.json";
        if (!fs::is_regular_file(file, failed)) continue;
        const ReportFile result = read_report_file(file);
        // One whose function is gone is named by who checks it.
        if (!result.record.function.empty() ||
            fs::is_regular_file(result.folder / (result.record.problem + source_ending(result.record)), failed))
            given.push_back(entry.path());
    }
    if (given.empty())
        throw UsageError("strop-out: there is no result to check", "name a folder that `strop optimize` wrote");
    std::sort(given.begin(), given.end());
    return given;
}

Course course_of(const Arguments& arguments) {
    Course course;
    course.tolerance = arguments.number("--tolerance");
    course.per_shape = arguments.duration("--per-shape");
    if (arguments.has("--fail-below")) {
        if (arguments.has("--tolerance"))
            throw UsageError("--fail-below and --tolerance say the same", "leave one of them out");
        const double share = arguments.number("--fail-below");
        if (share <= 0 || share > 1)
            throw UsageError(fmt::format("--fail-below: '{}' does not fit", arguments.text("--fail-below")),
                             "give a number above 0, at most 1; 0.95: a shape fails that does less than 95% of before");
        course.tolerance = 1 / share - 1;
    }
    if (course.baseline_file = arguments.text("--baseline"); !course.baseline_file.empty()) try {
            course.baseline = report::read_checked(read_file(course.baseline_file));
        } catch (const UsageError& error) {
            const bool read = fs::exists(course.baseline_file);
            throw UsageError(read ? fmt::format("{}: {}", course.baseline_file, error.what()) : error.what(),
                             error.hint());
        }
    for (const char* flag : {"--junit", "--markdown"})  // before anything is measured
        if (const std::string file = arguments.text(flag); !file.empty()) check_file(flag, file);
    course.command = worker_of(arguments);
    return course;
}

}  // namespace

int command_check(const Arguments& arguments) {
    std::vector<Checked> all;  // what is wrong with an argument is said before anything is measured
    for (const std::string& given : given_results(arguments)) all.push_back(prepare(given, arguments));
    const Course course = course_of(arguments);
    install_interrupt_handler();
    std::vector<report::CheckedResult> results;
    for (const Checked& checked : all) {
        results.push_back(run_check(checked, course));
        if (arguments.has("--json")) continue;
        if (results.size() > 1) fmt::print("\n");
        print_text(results.back());
        std::fflush(stdout);
    }
    if (arguments.has("--json")) fmt::print("{}\n", report::checked_json(results));
    if (arguments.has("--junit")) write_named_file(arguments.text("--junit"), report::checked_junit(results));
    if (arguments.has("--markdown")) write_named_file(arguments.text("--markdown"), report::checked_markdown(results));
    const bool kept =
        std::all_of(results.begin(), results.end(), [](const report::CheckedResult& result) { return result.kept; });
    return kept ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
