// strop: finds the command, runs it, and turns every failure into one line, a hint and an exit code.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/line.h"
#include "base/log.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "knowledge/store_address.h"
#include "llm/spec.h"

namespace strop::cli {

namespace {

int run(const std::vector<std::string>& words) {
    if (words.empty())
        throw UsageError("no command was given", "try `strop optimize problems/softmax`, or `strop --help`");
    if (words[0] == "--help" || words[0] == "-h") {
        fmt::print("{}", main_help());
        return 0;
    }
    if (words[0] == "--version") {
        fmt::print("strop {}\n", STROP_VERSION);
        return 0;
    }
    if (words[0].starts_with("-"))
        throw UsageError(fmt::format("the command comes before its flags, not '{}'", words[0]),
                         "for instance `strop optimize problems/softmax --budget 60s`");
    const CommandSpec* spec = find_command(words[0]);
    if (!spec) fail_unknown_command(words[0]);
    std::vector<std::string> rest(words.begin() + 1, words.end());
    for (const std::string& word : rest) {
        if (word == "--") break;
        if (word == "--help" || word == "-h") {
            fmt::print("{}", command_help_text(*spec));
            return 0;
        }
    }
    Arguments arguments = parse(*spec, rest);
    const char* level = std::getenv("STROP_LOG");
    bool verbose = arguments.has("--verbose");
    set_log_level(level ? level : verbose ? "debug" : "off");
    bool asks_models = spec->name == "optimize" || spec->name == "resume" || spec->name == "suggest" ||
                       spec->name == "learn" || spec->name == "serve";  // resumes runs that asked some
    if (!asks_models) llm::hide_keys();
    if (spec->name != "serve" && spec->name != "mcp") hide_store_passwords();  // these only start this program
    return spec->run(arguments);
}

int report(const std::string& phrase, const std::string& hint, Exit code) {
    std::fflush(stdout);
    std::string text = fmt::format("strop: {}\n", one_line(phrase));
    if (!hint.empty()) text += fmt::format("hint: {}\n", one_line(hint));
    std::fputs(text.c_str(), stderr);  // throws nothing where nobody reads it
    return static_cast<int>(code);
}

// As a shell says it of those whom SIGPIPE ended: who wrote into `head`. (The signal is ignored where there are
// children to talk to.)
constexpr int nobody_reads = 128 + SIGPIPE;

int not_written(int error) {
    return error == EPIPE ? nobody_reads
                          : report("standard output cannot be written", "is the disk full?", Exit::environment);
}

// The error boundary.
int guarded(const std::vector<std::string>& words) {
    try {
        int code = run(words);
        return std::fflush(stdout) == 0 ? code : not_written(errno);
    } catch (const Interrupted&) {
        return static_cast<int>(Exit::interrupted);  // said already, when the signal came
    } catch (const Error& error) {
        return report(error.what(), error.hint(), error.code());
    } catch (const std::bad_alloc&) {
        return report("out of memory", "try smaller shapes, or free some memory", Exit::environment);
    } catch (const std::exception& error) {
        const auto* system = dynamic_cast<const std::system_error*>(&error);
        const int number = system ? system->code().value() : 0;
        if (number == EPIPE || number == ENOSPC || number == EIO || number == EDQUOT) return not_written(number);
        return report(fmt::format("a bug: {}", error.what()),
                      "please report this line with the command and the output of `strop doctor --json`", Exit::bug);
    }
}

}  // namespace

}  // namespace strop::cli

int main(int count, char** words) {
    const std::vector<std::string> given(words + 1, words + std::max(1, count));
    for (int i = 1; i < count; ++i) strop::blank_store_password(words[i]);
    return strop::cli::guarded(given);
}
