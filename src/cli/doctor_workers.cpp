#include "cli/doctor_workers.h"

#include <algorithm>
#include <future>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/line.h"
#include "base/strings.h"
#include "cli/finish.h"
#include "cli/table.h"
#include "core/json.h"
#include "judge/worker_client.h"

namespace strop::cli {

namespace {

struct Looked {
    judge::WorkerCommand command;
    bool answers = false;
    judge::Greeting greeting;
    Seconds start{0}, round_trip{0};
    std::vector<std::string> languages;
    std::string banner;         // what was printed last before it spoke
    std::string problem, hint;  // why it cannot be used; empty: it can
};

Looked look_at(judge::WorkerCommand command) {
    command.silence = std::clamp(command.patience, judge::least_silence, command.silence);
    Looked looked;
    looked.command = command;
    try {
        const Clock::time_point start = Clock::now();
        judge::WorkerClient worker = started(command);
        looked.start = Seconds(seconds_since(start));
        looked.answers = true;
        looked.greeting = worker.greeting();
        looked.banner = one_line(worker.banner());
        looked.round_trip = worker.round_trip();
        looked.languages = worker.languages();
        if (looked.languages.empty()) {
            looked.problem = command.name() + " has no compiler";
            looked.hint = "install clang-19 or g++ there, or run ./strop setup there";
        }
    } catch (const Interrupted&) {
        throw;
    } catch (const Error& error) {
        looked.problem = one_line(error.what());
        looked.hint = error.hint();
    }
    return looked;
}

// Those of a pool measure on one kind of machine, with one compiler.
void compare(const Looked& first, Looked& other) {
    if (!other.answers || !other.problem.empty()) return;
    const judge::Greeting &here = first.greeting, &there = other.greeting;
    const std::string name = other.command.name(), than = first.command.name();
    if (here.machine.fingerprint != there.machine.fingerprint) {
        other.problem = fmt::format("{} is on another machine than {}", name, than);
        other.hint = "they cannot share a run: measurements of two machines are not mixed";
    } else if (here.toolchain != there.toolchain) {
        other.problem = fmt::format("{} has another compiler than {}", name, than);
        other.hint = "install the same compiler on both machines";
    }
}

std::vector<Looked> look_at_all(const std::vector<judge::WorkerCommand>& commands) {
    std::vector<std::future<Looked>> looking;
    for (const judge::WorkerCommand& command : commands)
        looking.push_back(std::async(std::launch::async, look_at, command));
    std::vector<Looked> all;
    for (std::future<Looked>& one : looking) all.push_back(one.get());
    const auto first = std::find_if(all.begin(), all.end(), [](const Looked& looked) { return looked.answers; });
    for (auto other = first; other != all.end(); ++other)
        if (other != first) compare(*first, *other);
    return all;
}

Json to_document(const std::vector<Looked>& all) {
    Json workers = Json::array();
    for (const Looked& looked : all) {
        Json entry = {{"name", looked.command.label()}, {"usable", looked.problem.empty()}};
        if (looked.answers) {
            entry["strop"] = looked.greeting.strop;
            entry["machine"] = looked.greeting.machine;
            entry["toolchain"] = looked.greeting.toolchain;
            entry["languages"] = looked.languages;
            entry["weaker_protections"] = looked.greeting.weaker;
            entry["start_seconds"] = looked.start.count();
            entry["round_trip_seconds"] = looked.round_trip.count();
            entry["banner"] = looked.banner;
        }
        if (!looked.problem.empty()) {
            entry["problem"] = looked.problem;
            entry["hint"] = looked.hint;
        }
        workers.push_back(entry);
    }
    return {{"workers", workers}};
}

std::string to_text(const Looked& looked) {
    std::vector<std::vector<std::string>> rows = {{"worker", looked.command.label()}};
    if (looked.answers) {
        rows.push_back({"answers", fmt::format("strop {}, after {}, a question and its answer take {}",
                                               looked.greeting.strop, human_nanoseconds(1e9 * looked.start.count()),
                                               human_nanoseconds(1e9 * looked.round_trip.count()))});
        rows.push_back({"machine", judge::machine_text(looked.greeting.machine)});
        rows.push_back({"compiler", looked.greeting.toolchain});
        rows.push_back({"languages", join(looked.languages, ", ")});
        if (!looked.banner.empty()) rows.push_back({"before it", looked.banner + " (passed over)"});
        for (const std::string& protection : looked.greeting.weaker) rows.push_back({"weaker", protection});
    }
    if (!looked.problem.empty()) rows.push_back({"wrong", looked.problem});
    if (!looked.hint.empty()) rows.push_back({"hint", looked.hint});
    return table(rows);
}

}  // namespace

int look_at_workers(const Arguments& arguments) {
    for (const char* flag : {"--judge", "--fresh"})
        if (arguments.has(flag))
            throw UsageError(fmt::format("{} is for this machine, not for workers", flag), "leave one of them out");
    const judge::Workers workers = workers_of(arguments);
    install_interrupt_handler();
    if (isatty(STDERR_FILENO))
        fmt::print(stderr, "waiting for {}\n", workers.commands.size() == 1 ? "the worker" : "the workers");
    const std::vector<Looked> all = look_at_all(workers.commands);
    if (arguments.has("--json")) fmt::print("{}\n", dump(to_document(all), 2));
    else
        for (const Looked& looked : all) fmt::print("{}{}", &looked == &all.front() ? "" : "\n", to_text(looked));
    std::fflush(stdout);
    const auto wrong =
        std::find_if(all.begin(), all.end(), [](const Looked& looked) { return !looked.problem.empty(); });
    if (wrong != all.end()) throw EnvironmentError(wrong->problem, wrong->hint);
    return 0;
}

}  // namespace strop::cli
