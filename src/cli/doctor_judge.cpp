// strop doctor --judge: trials of the judge whose right answer is known.
#include "cli/doctor_judge.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/finish.h"
#include "cli/table.h"
#include "core/json.h"
#include "run/calibration.h"

namespace strop::cli {

namespace {

Json to_document(const Calibration& result) {
    return {{"false_claims", {{"trials", result.against_itself.trials}, {"claims", result.against_itself.hits}}},
            {"planted",
             {{"percent", result.planted_percent},
              {"trials", result.planted.trials},
              {"found", result.planted.hits},
              {"not_found", result.not_found},
              {"seconds", result.planted_seconds}}},
            {"resolution_percent", result.resolution_percent},
            {"exploits", {{"total", result.exploits}, {"caught", result.caught}, {"missed", result.missed}}},
            {"weaker", result.weaker},
            {"interrupted", result.interrupted},
            {"seconds", result.seconds}};
}

std::string to_text(const Calibration& result) {
    std::vector<std::vector<std::string>> rows = {
        {"a kernel against itself",
         fmt::format("{} of {} trials claimed a difference", result.against_itself.hits, result.against_itself.trials)},
        {fmt::format("slowed by {:g}%", result.planted_percent),
         fmt::format("found in {} of {} trials, {} each", result.planted.hits, result.planted.trials,
                     human_nanoseconds(1e9 * result.planted_seconds))},
        {"resolution", fmt::format("±{:.1f}%", result.resolution_percent)},
        {"exploits", fmt::format("{} of {} caught", result.caught, result.exploits)}};
    for (const auto& [place, trials] : result.not_found)
        rows.push_back({"not found", fmt::format("{}: {}", place, trials)});
    for (const std::string& name : result.missed) rows.push_back({"missed", name});
    for (const std::string& protection : result.weaker) rows.push_back({"weaker", protection});
    if (result.interrupted) rows.push_back({"interrupted", "this is what was tried until then"});
    rows.push_back({"time", human_nanoseconds(1e9 * result.seconds)});
    return table(rows);
}

}  // namespace

int judge_the_judge(const Arguments& arguments) {
    install_interrupt_handler();
    CalibrationOptions options;
    options.worker = own_worker();
    options.home = home_folder();
    options.trials = static_cast<int>(arguments.integer("--trials"));
    bool terminal = isatty(STDERR_FILENO);
    if (terminal) options.progress = [](const std::string& what) { fmt::print(stderr, "\r\033[K{}", what); };
    Calibration result = calibrate(options);
    if (terminal) fmt::print(stderr, "\r\033[K");
    fmt::print("{}", arguments.has("--json") ? to_document(result).dump(2) + "\n" : to_text(result));
    if (result.interrupted) return static_cast<int>(Exit::interrupted);
    return result.missed.empty() ? 0 : static_cast<int>(Exit::no_improvement);
}

}  // namespace strop::cli
