#include "judge/worker_connection.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/strings.h"
#include "device/target.h"
#include "judge/waiting.h"
#include "judge/worker_message.h"

namespace strop::judge {

namespace {

constexpr int most_banner_lines = 100;  // of shells and ssh, before the worker speaks
constexpr size_t most_banner_bytes = 64 << 10;
constexpr size_t longest_answer = 64 << 20;  // what is longer is no answer, and would fill the memory here
constexpr size_t longest_quote = 200;
constexpr int most_signs = 10000;  // of life, to a question; one every few seconds is usual
constexpr Seconds parting{2};

struct GivenUp {
    std::string why;
};

std::string quote(const std::string& text) { return shortened(text, longest_quote); }

}  // namespace

WorkerConnection::WorkerConnection(const WorkerCommand& command, const std::function<void()>& idle)
    : command_(command),
      process_(command.argv,
               command.is_own() ? sandbox::LineProcess::Errors::ours : sandbox::LineProcess::Errors::kept) {
    try {
        greet(idle);
    } catch (...) {
        if (!command_.is_own()) process_.end_within(parting);  // it may be well, and has a folder to remove
        throw;
    }
}

WorkerConnection::~WorkerConnection() {
    if (!command_.is_own()) process_.end_within(parting);
}

void WorkerConnection::greet(const std::function<void()>& idle) {
    Waiting waiting;
    auto wait = [&] {
        idle();
        if (waiting.look() < command_.patience) return;
        const std::string said = last_printed_.empty() ? process_.last_error() : last_printed_;
        throw EnvironmentError(
            fmt::format("{} said nothing that a worker says for {:.0f} s{}", command_.name(), command_.patience.count(),
                        said.empty() ? "" : fmt::format("; it printed last: {}", quote(said))),
            "it must not ask for anything (a key instead of a password); a queue may need a longer --worker-wait");
    };
    Json hello = {{"op", "hello"}};
    if (!command_.target.empty()) hello["target"] = command_.target;
    if (!command_.device.empty()) hello["device"] = command_.device;
    if (!process_.write_line(dump(hello), wait)) fail_to_start();
    size_t bytes = 0;
    std::string line;
    for (int lines = 0; process_.read_line(line, wait, most_banner_bytes); ++lines) {
        if (is_greeting(line)) return;
        if (!trim(line).empty()) last_printed_ = line;
        bytes += line.size();
        if (lines >= most_banner_lines || bytes >= most_banner_bytes)
            throw EnvironmentError(
                fmt::format("{} printed {} and no word of a worker; the last: {}", command_.name(),
                            lines >= most_banner_lines ? fmt::format("{} lines", lines + 1)
                                                       : human_bytes(static_cast<double>(bytes)),
                            quote(last_printed_)),
                "the command has to end in `strop worker`, with nothing else on its output, or to be a place such as "
                "`ssh gpu1`");
        wait();
    }
    fail_to_start();
}

// A line that is no JSON is of somebody else. A worker that does not know how to greet is an old one.
bool WorkerConnection::is_greeting(const std::string& line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return false;
    if (!json.contains("strop") && !json.contains("error")) return false;
    try {
        if (json.contains("strop")) greeting_ = greeting_from_json(json);
        else if (json["error"].at("phrase").get<std::string>().find("unknown op") == std::string::npos)
            parse_answer(line);
        else greeting_ = {"an earlier version", 1, {}, {}, {}, {}};
    } catch (const Json::exception& error) {
        throw EnvironmentError(fmt::format("{} does not greet as a worker does: {}", command_.name(), error.what()),
                               "the command has to end in `strop worker`, or to be a place such as `ssh gpu1`");
    }
    if (greeting_.strop != this_version() || greeting_.protocol != worker_protocol)
        throw EnvironmentError(
            fmt::format("{} is of another version: strop {} (protocol {}), this one is {} (protocol {})",
                        command_.name(), quote(greeting_.strop), greeting_.protocol, this_version(), worker_protocol),
            "install the same version on both machines");
    if (command_.target != greeting_.machine.target && !command_.target.empty() && command_.target != native_target)
        throw EnvironmentError(fmt::format("{} does not judge for {}", command_.name(), command_.target),
                               "install the same version on both machines");
    return true;
}

void WorkerConnection::fail_to_start() {
    const std::string printed = last_printed_;
    const std::string how = end();
    throw NoWorkerBegan(fmt::format("{} ended before it began: {}{}", command_.name(), how,
                                    printed.empty() ? "" : fmt::format("; it printed last: {}", quote(printed))),
                        command_.is_own() ? "run again with --verbose"
                                          : "try the command by itself: it has to wait for a line of input");
}

bool WorkerConnection::ask(const std::string& message, std::string& answer, Seconds limit,
                           const std::function<void()>& idle) try {
    Waiting silence, whole;
    auto wait = [&] {
        idle();
        if (silence.look() >= command_.silence)
            throw GivenUp{fmt::format("it said nothing for {:g} s", command_.silence.count())};
        if (whole.look() >= limit) throw GivenUp{fmt::format("it had no answer after {:g} s", limit.count())};
    };
    if (!process_.write_line(message, wait)) return false;
    for (int signs = 0; process_.read_line(answer, wait, longest_answer); ++signs) {
        if (answer != working_line) return true;
        if (signs == most_signs) throw GivenUp{fmt::format("it said {} times that it works", signs)};
        silence.begin_again();
    }
    return false;
} catch (const GivenUp& given_up) {
    given_up_ = given_up.why;
    return false;
}

std::string WorkerConnection::end() {
    if (!given_up_.empty()) {
        process_.end_within(Seconds(0));
        return given_up_;
    }
    const sandbox::Finished finished = process_.end_within(parting);
    const std::string said = process_.last_error();
    return finished.describe() + (said.empty() ? "" : fmt::format(": {}", quote(said)));
}

}  // namespace strop::judge
