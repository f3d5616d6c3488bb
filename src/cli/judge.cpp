// strop judge: compile, check and time kernels against the baselines.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/citation.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/emulated.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/report_file.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "core/json.h"
#include "language/contract.h"
#include "report/change.h"
#include "report/facts.h"
#include "run/judgement.h"
#include "run/verification.h"

namespace strop::cli {

namespace {

Json cold_of(const ContenderResult& result) {
    return result.cold.samples_ns.empty() ? Json() : Json(result.cold.median_ns);
}

// One document; of several kernels each is a line.
void print_json(const std::string& file, const Judgement& judgement, bool one_of_several) {
    Json shapes = Json::array();
    for (const PointResult& result : judgement.evaluation.points) {
        Json shape = {{"label", result.point.label},          {"dims", result.point.dims},
                      {"verdict", name_of(result.verdict)},   {"evidence", result.evidence},
                      {"nanoseconds", result.time.median_ns}, {"low", result.time.low_ns},
                      {"high", result.time.high_ns},          {"error_share", result.error_share},
                      {"baselines", Json::object()}};
        for (const PointComparison& point : judgement.comparison.points)
            if (point.point.label == result.point.label && result.verdict == Verdict::ok) {
                shape["cold"] = cold_of(point.results[0]);
                for (size_t i = 1; i < point.results.size(); ++i)
                    shape["baselines"][point.results[i].name] = {{"nanoseconds", point.results[i].time.median_ns},
                                                                 {"speedup", point.results[i].speedup},
                                                                 {"decision", name_of(point.results[i].decision)},
                                                                 {"cold", cold_of(point.results[i])}};
            }
        shapes.push_back(shape);
    }
    Json document = {{"kernel", file},
                     {"verdict", name_of(judgement.evaluation.verdict)},
                     {"evidence", judgement.evaluation.evidence},
                     {"configuration", configuration_to_json(judgement.evaluation.configuration)},
                     {"shapes", shapes},
                     {"speedup", judgement.speedup ? Json(*judgement.speedup) : Json()},
                     {"sanitizers", judgement.sanitizers},
                     {"seed", judgement.seed},
                     {"seconds", judgement.seconds}};
    fmt::print("{}\n", one_of_several ? dump(document) : dump(document, 2));
}

void print_text(const Judgement& judgement) {
    const Evaluation& evaluation = judgement.evaluation;
    fmt::print("verdict: {}\n", name_of(evaluation.verdict));
    if (!evaluation.evidence.empty()) fmt::print("{}\n", cited(evaluation.evidence));
    std::vector<std::vector<std::string>> cells = {{"SHAPE", "VERDICT", "TIME", "ERROR/ALLOWED", "AGAINST"}};
    for (const PointResult& result : evaluation.points) {
        std::vector<std::string> against;
        for (const PointComparison& point : judgement.comparison.points)
            if (point.point.label == result.point.label && result.verdict == Verdict::ok)
                for (size_t i = 1; i < point.results.size(); ++i)
                    if (point.results[i].verdict == Verdict::ok)
                        against.push_back(point.results[i].name + " " + ratio_text(point.results[i].speedup));
        bool timed = !result.time.samples_ns.empty();
        cells.push_back(
            {result.point.label, name_of(result.verdict), timed ? human_nanoseconds(result.time.median_ns) : "-",
             result.verdict == Verdict::ok ? report::error_text(result.error_share) : "-", join(against, ", ")});
    }
    if (!evaluation.points.empty()) fmt::print("\n{}", table(cells));
    for (const MissingBaseline& lost : lost_baselines(judgement.comparison))
        fmt::print("\nerror: not compared with {}: it {}\n", lost.name, printable(lost.how));
    for (const SanitizerRun& run : judgement.sanitizers)
        if (run.verdict == Verdict::ok) fmt::print("\n{}\n", report::sanitizer_text(run));
    if (judgement.speedup)
        fmt::print("\n{:.2f}× the best baselines ({:.2f}–{:.2f}), geometric mean over shapes\n",
                   judgement.speedup->ratio, judgement.speedup->low, judgement.speedup->high);
}

void print(const std::string& file, const Problem& problem, const Judgement& judgement, const Arguments& arguments) {
    const bool json = arguments.has("--json"), emulated = arguments.text("--device") == "emulated";
    const bool one_of_several = arguments.all("KERNEL").size() > 1;
    if (json && emulated) print_emulated_json(problem, file, judgement, one_of_several);
    else if (json) print_json(file, judgement, one_of_several);
    if (json) return;
    if (one_of_several) fmt::print("{}{}\n", file == arguments.all("KERNEL").front() ? "" : "\n", file);
    if (emulated) print_emulated(problem, file, judgement);
    else print_text(judgement);
    if (judgement.evaluation.verdict == Verdict::wrong_output && !arguments.has("--seed"))
        fmt::print("\nthe same inputs again: --seed {}\n", judgement.seed);
}

// As it was given; a file that is given again (what does the judge say of a kernel against itself?) is numbered.
std::string fresh_name(const std::string& file, const std::vector<Contender>& others) {
    const auto times = std::count_if(others.begin(), others.end(), [&](const Contender& other) {
        return other.name == file || other.name.starts_with(file + " (");
    });
    return times == 0 ? file : fmt::format("{} ({})", file, times + 1);
}

// Of a kernel over the first one, in a comparison of the first with all.
std::optional<Ratio> gain(const PointComparison& point, size_t i) {
    if (point.results[0].verdict != Verdict::ok || point.results[i].verdict != Verdict::ok) return std::nullopt;
    const Ratio& first = point.results[i].speedup;
    return Ratio{1 / first.ratio, 1 / first.high, 1 / first.low};
}

std::optional<Ratio> gain_over_all(const Comparison& comparison, size_t i) {
    std::vector<Ratio> gains;
    for (const PointComparison& point : comparison.points)
        if (const std::optional<Ratio> one = gain(point, i)) gains.push_back(*one);
    return report::overall(gains);
}

void print_turns(const std::vector<Contender>& kernels, const Comparison& comparison) {
    std::vector<std::vector<std::string>> cells = {{"SHAPE"}};
    for (const Contender& kernel : kernels) cells[0].push_back(kernel.name);
    for (const PointComparison& point : comparison.points) {
        cells.push_back({point.point.label});
        for (size_t i = 0; i < point.results.size(); ++i) {
            const ContenderResult& result = point.results[i];
            std::string text =
                result.verdict == Verdict::ok ? human_nanoseconds(result.time.median_ns) : name_of(result.verdict);
            if (const std::optional<Ratio> one = gain(point, i); one && i > 0) text += ", " + ratio_text(*one);
            cells.back().push_back(text);
        }
    }
    cells.push_back({"all", ""});
    for (size_t i = 1; i < kernels.size(); ++i) {
        const std::optional<Ratio> whole = gain_over_all(comparison, i);
        cells.back().push_back(whole ? ratio_text(*whole) : "-");
    }
    fmt::print("\nin turns with {}\n\n{}", kernels[0].name, table(cells));
}

void print_turns_json(const std::vector<Contender>& kernels, const Comparison& comparison) {
    Json shapes = Json::array(), speedups = Json::object();
    for (const PointComparison& point : comparison.points) {
        Json results = Json::object();
        for (size_t i = 0; i < point.results.size(); ++i) {
            const ContenderResult& result = point.results[i];
            Json& kernel = results[result.name];
            kernel = {{"verdict", name_of(result.verdict)},
                      {"nanoseconds", result.time.median_ns},
                      {"cold", cold_of(result)}};
            if (const std::optional<Ratio> one = gain(point, i); one && i > 0) kernel["speedup"] = *one;
        }
        shapes.push_back({{"label", point.point.label}, {"dims", point.point.dims}, {"kernels", results}});
    }
    for (size_t i = 1; i < kernels.size(); ++i)
        if (const std::optional<Ratio> whole = gain_over_all(comparison, i)) speedups[kernels[i].name] = *whole;
    fmt::print("{}\n", dump(Json{{"in_turns_with", kernels[0].name}, {"shapes", shapes}, {"speedups", speedups}}));
}

// What is being done: over the same line of a terminal; into a pipe only when asked for.
class Phases {
public:
    explicit Phases(bool into_pipes) : into_pipes_(into_pipes) {}
    void tell(const std::string& what) {
        if (painter_.live()) painter_.paint({what});
        else if (into_pipes_) painter_.line(what);
    }
    void clear() { painter_.clear(); }

private:
    const bool into_pipes_;
    LivePainter painter_;
};

}  // namespace

int command_judge(const Arguments& arguments) {
    const std::vector<std::string> files = arguments.all("KERNEL");
    const std::string device = arguments.text("--device");
    const bool emulated = device == "emulated";
    if (emulated && arguments.has("--sanitize"))
        throw UsageError("--sanitize and --device emulated: the emulator watches every access itself",
                         "leave one of them out");
    if (device == "cuda" && arguments.has("--sanitize"))
        throw UsageError("--sanitize and --device cuda: sanitizers see nothing of a device",
                         "leave --sanitize out; --device emulated watches every access");
    const Problem given = problem_of_judged(arguments);
    std::vector<Kernel> kernels;
    std::vector<Configuration> configurations;
    for (const std::string& file : files) {
        kernels.push_back(read_judged_kernel(file, given, device));
        configurations.push_back(configuration_of(kernels.back(), arguments));
    }
    judge::WorkerCommand command = worker_of(arguments);
    if (device == "cuda") command.device = device;
    install_interrupt_handler();
    Phases phases(arguments.has("--progress"));
    phases.tell("the reference is evaluated");
    judge::WorkerClient worker = started(command);
    const uint64_t seed = arguments.seed();
    const Problem problem = worker.open(given, {}, seed);
    phases.clear();
    if (!worker.reference_note().empty()) fmt::print(stderr, "! {}\n", worker.reference_note());
    for (size_t i = 0; i < kernels.size(); ++i) (void)shapes_of_kernel(files[i], kernels[i], problem);
    std::vector<Contender> right;
    for (size_t i = 0; i < kernels.size(); ++i) {
        const JudgementOptions options{
            seed, true, arguments.duration("--per-shape"), arguments.has("--sanitize"),
            [&](const std::string& what) { phases.tell(fmt::format("{} is {}", files[i], what)); }};
        Judgement judgement = emulated ? emulate_kernel(worker, problem, kernels[i], configurations[i], seed)
                                       : judge_kernel(worker, problem, kernels[i], configurations[i], options);
        phases.clear();
        judgement.evaluation.evidence = with_file_name(judgement.evaluation.evidence, files[i]);
        for (PointResult& point : judgement.evaluation.points)
            point.evidence = with_file_name(point.evidence, files[i]);
        for (SanitizerRun& run : judgement.sanitizers) run.evidence = with_file_name(run.evidence, files[i]);
        if (judgement.evaluation.ok())
            right.push_back({fresh_name(files[i], right), "", kernels[i], configurations[i]});
        print(files[i], problem, judgement, arguments);
        std::fflush(stdout);
    }
    if (right.size() > 1 && !emulated) {
        phases.tell("they are timed in turns with each other");
        const Comparison comparison = compare_kernels(worker, problem, right, arguments.duration("--per-shape"));
        phases.clear();
        arguments.has("--json") ? print_turns_json(right, comparison) : print_turns(right, comparison);
    }
    return right.size() == files.size() ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
