// strop judge: compile, check and time one kernel against the baselines.
#include <filesystem>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/finish.h"
#include "cli/kernel_file.h"
#include "cli/table.h"
#include "core/json.h"
#include "language/contract.h"
#include "problem/loader.h"
#include "run/judgement.h"

namespace strop::cli {

namespace {

Configuration configuration_of(const Kernel& kernel, const std::vector<std::string>& assignments) {
    std::map<std::string, std::string> values;
    for (const std::string& assignment : assignments) {
        size_t equals = assignment.find('=');
        values[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    try {
        return chosen_configuration(kernel.space, values);
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("--set {}: {}", join(assignments, " "), error.what()), error.hint());
    }
}

void print_json(const Judgement& judgement) {
    Json shapes = Json::array();
    for (const PointResult& result : judgement.evaluation.points) {
        Json shape = {{"label", result.point.label},
                      {"dims", result.point.dims},
                      {"verdict", name_of(result.verdict)},
                      {"evidence", result.evidence},
                      {"nanoseconds", result.time.median_ns},
                      {"low", result.time.low_ns},
                      {"high", result.time.high_ns},
                      {"baselines", Json::object()}};
        for (const PointComparison& point : judgement.comparison.points)
            if (point.point.label == result.point.label)
                for (size_t i = 1; i < point.results.size(); ++i)
                    shape["baselines"][point.results[i].name] = {
                        {"nanoseconds", point.results[i].time.median_ns},
                        {"speedup", point.results[i].speedup},
                        {"decision", name_of(point.results[i].decision)}};
        shapes.push_back(shape);
    }
    Json document = {{"verdict", name_of(judgement.evaluation.verdict)},
                     {"evidence", judgement.evaluation.evidence},
                     {"configuration", configuration_to_json(judgement.evaluation.configuration)},
                     {"shapes", shapes},
                     {"speedup", judgement.speedup ? Json(*judgement.speedup) : Json()},
                     {"seconds", judgement.seconds}};
    fmt::print("{}\n", dump(document, 2));
}

void print_text(const Judgement& judgement) {
    const Evaluation& evaluation = judgement.evaluation;
    fmt::print("verdict: {}\n", name_of(evaluation.verdict));
    if (!evaluation.evidence.empty()) fmt::print("{}\n", evaluation.evidence);
    std::vector<std::vector<std::string>> cells = {{"SHAPE", "VERDICT", "TIME", "AGAINST"}};
    for (const PointResult& result : evaluation.points) {
        std::vector<std::string> against;
        for (const PointComparison& point : judgement.comparison.points)
            if (point.point.label == result.point.label)
                for (size_t i = 1; i < point.results.size(); ++i)
                    if (point.results[i].verdict == Verdict::ok)
                        against.push_back(fmt::format("{} {:.2f}× ({:.2f}–{:.2f})", point.results[i].name,
                                                      point.results[i].speedup.ratio, point.results[i].speedup.low,
                                                      point.results[i].speedup.high));
        bool timed = !result.time.samples_ns.empty();
        cells.push_back({result.point.label, name_of(result.verdict),
                         timed ? human_nanoseconds(result.time.median_ns) : "-", join(against, ", ")});
    }
    if (!evaluation.points.empty()) fmt::print("\n{}", table(cells));
    if (judgement.speedup)
        fmt::print("\n{:.2f}× the best baselines ({:.2f}–{:.2f}), geometric mean over shapes\n",
                   judgement.speedup->ratio, judgement.speedup->low, judgement.speedup->high);
}

}  // namespace

int command_judge(const Arguments& arguments) {
    Kernel kernel =
        read_kernel(arguments, "give a C++ file: extern \"C\" void NAME(inputs..., outputs..., dimensions...)");
    Problem problem = problem_of_kernel(arguments);
    check_memory(problem);
    Configuration configuration = configuration_of(kernel, arguments.all("--set"));
    install_interrupt_handler();
    judge::WorkerClient worker(worker_command(), problem.folder.string(), {}, std::random_device{}(),
                               [] { check_interrupt(); });
    Judgement judgement = judge_kernel(worker, problem, kernel, configuration, std::random_device{}());
    std::string& evidence = judgement.evaluation.evidence;   // the compiler saw a copy under another name
    evidence = replace_all(evidence, "kernel0.cpp:", fs::path(arguments.text("KERNEL")).filename().string() + ":");
    if (arguments.has("--json")) print_json(judgement);
    else print_text(judgement);
    return judgement.evaluation.ok() ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
