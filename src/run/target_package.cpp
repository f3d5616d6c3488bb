#include "run/target_package.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "core/json.h"
#include "device/target.h"
#include "judge/worker_pool.h"
#include "language/team_text.h"
#include "run/held_out.h"
#include "run/result_folder.h"
#include "run/result_texts.h"
#include "run/verification.h"

namespace strop {

namespace {

constexpr const char* choice_prefix = "choice-";
constexpr size_t most_held_out = 16;
constexpr double seconds_to_compare = 0.4, seconds_to_check = 0.01;  // at a shape
// What every x86-64 processor executes: the function has to choose on all of them.
constexpr const char* chooser_flags = "-O2 -march=x86-64 -mtune=generic";

Json to_json(const report::ChoiceCheck& check) {
    return {{"shapes", check.shapes},     {"correct", check.correct},
            {"held_out", check.held_out}, {"held_out_correct", check.held_out_correct},
            {"failure", check.failure},   {"over_alone", check.over_alone}};
}

report::ChoiceCheck check_from(const Json& json) {
    return {json.at("shapes"),           json.at("correct"), json.at("held_out"),
            json.at("held_out_correct"), json.at("failure"), json.at("over_alone").get<Ratio>()};
}

// The points at which the first contender was right.
int count_right(const Comparison& comparison, std::string& failure) {
    int right = 0;
    for (const PointComparison& point : comparison.points) {
        const ContenderResult& result = point.results.front();
        if (result.verdict == Verdict::ok) ++right;
        else
            failure = fmt::format("{} at {}: {}", name_of(result.verdict), describe(point.point.dims), result.evidence);
    }
    return right;
}

std::string header_of(const Problem& problem, const std::vector<TargetRun>& runs) {
    std::vector<std::string> lines = {
        fmt::format("{}: for several instruction sets, each in a file of its own that is compiled for it.",
                    problem.name),
        "This file chooses among them, and is compiled for any processor. Made by strop:"};
    for (const TargetRun& run : runs)
        lines.push_back(
            fmt::format("  {}: run {} on {}", run.part.unit.target, run.record.run, run.record.machine.cpu));
    return join(lines, "\n");
}

// The linker keeps the first of functions that several files have inline: it has to be one that every processor
// executes.
std::vector<Unit> least_first(const std::vector<TargetRun>& runs) {
    const std::vector<std::string> names = target_names();
    std::vector<Unit> units;
    for (const std::string& name : names)
        for (const TargetRun& run : runs)
            if (run.part.unit.target == name) units.push_back(run.part.unit);
    return units;
}

}  // namespace

TargetPackage::TargetPackage(const Problem& problem, std::vector<TargetRun> runs)
    : problem_(problem),
      runs_(std::move(runs)) {
    units_.units = least_first(runs_);
    units_.chooser = chooser_source(problem_, units_.units, header_of(problem_, runs_));
}

Kernel TargetPackage::kernel() const {
    Kernel kernel;
    kernel.id = kernel.strategy = "choice";
    kernel.source = one_text(units_);
    kernel.author = "strop";
    kernel.space.tunables.push_back({"FLAGS", {Value(std::string(chooser_flags))}, Tunable::Kind::flags});
    kernel.initial["FLAGS"] = Value(std::string(chooser_flags));
    return kernel;
}

report::ChoiceCheck TargetPackage::judge(const TargetRun& run, Store& store, const std::function<void()>& idle) const {
    const std::string key = choice_prefix + content_hash(kernel().source);
    if (const std::optional<std::string> known = store.find_document(run.record.run, key))
        return check_from(Json::parse(*known));
    const report::ChoiceCheck check = measured(run, idle);
    store.add_document(run.record.run, key, dump(to_json(check)));
    return check;
}

report::ChoiceCheck TargetPackage::measured(const TargetRun& run, const std::function<void()>& idle) const {
    const uint64_t seed = mix64(run.record.settings.seed + 0xc401ce);
    judge::WorkerPool worker(run.workers.commands, idle);
    const Problem problem = worker.open(problem_, run.record.settings.points, seed);
    report::ChoiceCheck check;
    ComparisonRequest request;
    request.effort = Effort::full;
    request.contenders = {{"choice", "", kernel(), kernel().initial},
                          {"alone", "", run.part.alone, run.part.alone.initial}};
    request.points = problem.points;
    request.seconds_per_point = seconds_to_compare;
    const Comparison sweep = worker.compare(request);
    check.shapes = static_cast<int>(sweep.points.size());
    check.correct = count_right(sweep, check.failure);
    check.over_alone = speedup_over_best(sweep).value_or(Ratio{1, 0, 1});
    request.contenders.pop_back();
    request.points = search::held_out_shapes(problem, most_held_out, probe_bytes, seed, problem.points);
    request.seconds_per_point = seconds_to_check;
    const Comparison held_out = request.points.empty() ? Comparison{} : worker.compare(request);
    check.held_out = static_cast<int>(held_out.points.size());
    check.held_out_correct = count_right(held_out, check.failure);
    return check;
}

void TargetPackage::write(const std::filesystem::path& folder, const std::vector<report::TargetResult>& results) const {
    result::CompilerOptions options;
    for (const Unit& unit : units_.units) {
        const auto run = std::find_if(runs_.begin(), runs_.end(),
                                      [&](const TargetRun& one) { return one.part.unit.target == unit.target; });
        result::CompilerOptions own = result::compiler_options(run->record, {unit.source, join(unit.flags, " "), {}});
        if (options.compiler.empty()) options = own;
        options.openmp = options.openmp || own.openmp;
        options.team = options.team || own.team;
        options.units.push_back(
            {unit.target, unit_entry(problem_.name, unit.target), own.openmp, own.portable, own.own});
        write_file(folder / (options.units.back().stem + ".cpp"), unit.source);
    }
    options.portable = {"-O2"};
    options.own.clear();
    result::write_files(folder, problem_, options, units_.chooser, runs_.front().part.vectors);
    write_file(folder / "report.html", report::targets_html(folder, results));
    write_file(folder / "report.md", report::targets_markdown(folder, results));
    write_file(folder / "report.json", report::targets_json(folder, results));  // last: a folder with it is complete
}

}  // namespace strop
