#include "run/catalogue.h"

#include <future>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/strings.h"
#include "device/machine.h"
#include "playbook/playbook.h"
#include "problem/loader.h"
#include "problem/trace.h"

namespace strop {

namespace {

std::optional<Testable> testable(const ProblemSummary& summary, const Machine& machine) {
    try {
        Testable found{load_problem(summary.folder.string()), {}};
        found.strategies = playbook::Playbook(found.problem, trace_reference(found.problem), machine).plan();
        if (!found.strategies.empty()) return found;
    } catch (const Error&) {  // a lesson is of use without it
    }
    return std::nullopt;
}

std::string describe(const Kernel& kernel) {
    std::vector<std::string> tunables;
    for (const Tunable& tunable : kernel.space.tunables) tunables.push_back(tunable.name);
    return kernel.id + (tunables.empty() ? "" : fmt::format(" ({})", join(tunables, ", ")));
}

// Those that any of them may have, so that a prompt has each once.
std::map<std::string, std::set<Value>> values_of(const std::vector<Testable>& testable) {
    std::map<std::string, std::set<Value>> values;
    for (const Testable& one : testable)
        for (const Proposal& proposal : one.strategies)
            for (const Tunable& tunable : proposal.kernel.space.tunables)
                values[tunable.name].insert(tunable.values.begin(), tunable.values.end());
    return values;
}

}  // namespace

std::vector<Testable> testable_problems() {
    const Machine machine = detect_machine();
    std::vector<std::future<std::optional<Testable>>> each;
    for (const ProblemSummary& summary : list_problems(home_folder() / "problems"))
        if (summary.error.empty())
            each.push_back(std::async(std::launch::async, [summary, &machine] { return testable(summary, machine); }));
    std::vector<Testable> all;
    for (auto& one : each)
        if (std::optional<Testable> found = one.get()) all.push_back(std::move(*found));
    return all;
}

std::string describe(const std::vector<Testable>& testable) {
    std::string text;
    for (const Testable& one : testable) {
        text += fmt::format("- {}:", one.problem.name);
        for (const Proposal& proposal : one.strategies)
            text += fmt::format("{} {}", &proposal == &one.strategies.front() ? "" : ";", describe(proposal.kernel));
        text += "\n";
    }
    for (const auto& [tunable, values] : values_of(testable)) {
        std::vector<std::string> each;
        for (const Value& value : values) each.push_back(to_string(value));
        text += fmt::format("- {} is one of {}\n", tunable, join(each, ", "));
    }
    return text.empty() ? "nothing\n" : text;
}

}  // namespace strop
