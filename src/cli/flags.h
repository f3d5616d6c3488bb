// The one table of commands and flags: the parser, --help, the completions and the manual page come from it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"

namespace strop::cli {

class Arguments;

enum class Kind {
    on_off,  // takes no value
    text,
    words,  // of another program's command line; may begin with a dash
    file,
    folder,
    duration,    // 60s, 2m, 1h30m
    whole,       // 0, 1, 2, ...
    count,       // 1, 2, 3, ...
    number,      // a real number that is not negative
    choice,      // one of `choices`
    assignment,  // NAME=VALUE
};

struct Flag {
    std::string name;   // "--budget"
    std::string value;  // "DURATION"; empty for Kind::on_off
    std::string help;
    Kind kind = Kind::on_off;
    std::string standard;  // the value when it is not given; may be empty
    std::vector<std::string> choices = {};
    bool repeated = false;
    bool names_workers = false;  // a choice, or a name in workers.yaml (named_device.h)
};

// What completes a positional argument.
enum class Completes { nothing, problems, runs, choices };

struct Positional {
    std::string name;  // "PROBLEM"
    std::string help;
    bool required = true;
    bool repeated = false;
    Completes completes = Completes::nothing;
    std::vector<std::string> choices = {};  // the only values when not empty
};

struct Example {
    std::string line, says;
};

struct CommandSpec {
    std::string name;
    std::string summary;  // one line, lower case
    std::vector<Positional> positionals;
    std::vector<Flag> flags;
    std::vector<Example> examples;
    int (*run)(const Arguments&) = nullptr;
    bool hidden = false;
};

const std::vector<CommandSpec>& commands();
const CommandSpec* find_command(const std::string& name);  // null when there is none

// What was given on one command line, checked against the table.
class Arguments {
public:
    explicit Arguments(const CommandSpec& spec) : spec_(&spec) {}

    const CommandSpec& spec() const { return *spec_; }
    bool has(const std::string& name) const { return values_.count(name) > 0; }  // given, or switched on
    // The (first) value, or the table's standard one; empty when there is neither.
    std::string text(const std::string& name) const;
    std::vector<std::string> all(const std::string& name) const;  // of a repeated one, in order
    int64_t integer(const std::string& name) const;
    uint64_t seed() const;  // --seed; without it one that nobody could foresee
    double number(const std::string& name) const;
    Seconds duration(const std::string& name) const;

    void set(const std::string& name, std::vector<std::string> values) { values_[name] = std::move(values); }
    void drop(const std::string& name) { values_.erase(name); }

private:
    const CommandSpec* spec_;
    std::map<std::string, std::vector<std::string>> values_;  // by "--flag" or "POSITIONAL"
};

// `words`: the command line after the command's name. UsageErrors with a hint for everything that does not
// fit.
Arguments parse(const CommandSpec& spec, const std::vector<std::string>& words);

// Throws a UsageError that names the commands nearest to `word`.
[[noreturn]] void fail_unknown_command(const std::string& word);

}  // namespace strop::cli
