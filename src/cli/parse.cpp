// From words to Arguments: CLI11 splits the command line, the table's kinds check the values.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/strings.h"
#include "cli/flags.h"
#include "cli/named_device.h"

namespace strop::cli {

namespace {

std::string help_hint(const CommandSpec& spec) {
    return fmt::format("`strop {} --help` shows its arguments", spec.name);
}

[[noreturn]] void fail_extra(const CommandSpec& spec, const std::string& word) {
    if (word.starts_with("-")) {
        std::vector<std::string> names = {"--help"};
        for (const Flag& flag : spec.flags) names.push_back(flag.name);
        std::vector<std::string> near = nearest(word.substr(0, word.find('=')), names, 1);
        std::string hint = near.empty() ? "" : fmt::format("did you mean {}? ", near.front());
        throw UsageError(fmt::format("unknown flag '{}' of `strop {}`", word, spec.name), hint + help_hint(spec));
    }
    throw UsageError(fmt::format("unexpected argument '{}' of `strop {}`", word, spec.name), help_hint(spec));
}

template <typename T>
bool reads_as(const std::string& text, T& value) {
    const char* end = text.data() + text.size();
    std::from_chars_result result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc() && result.ptr == end;
}

[[noreturn]] void fail_value(const std::string& name, const std::string& text, const std::string& hint) {
    throw UsageError(fmt::format("{}: '{}' does not fit", name, text), hint);
}

void check_choice(const std::string& name, const std::string& text, const std::vector<std::string>& choices) {
    if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end()) return;
    fail_value(name, text, fmt::format("choose from {}", join(choices, ", ")));
}

void check_value(const Flag& flag, const std::string& text) {
    int64_t integer = 0;
    double real = 0;
    size_t equals = text.find('=');
    switch (flag.kind) {
        case Kind::whole:
            if (!reads_as(text, integer) || integer < 0)
                fail_value(flag.name, text, "give a whole number, 0 or larger");
            break;
        case Kind::count:
            if (!reads_as(text, integer) || integer < 1 || integer > 1'000'000)
                fail_value(flag.name, text, "give a whole number, 1 or larger");
            break;
        case Kind::number:
            if (!reads_as(text, real) || !std::isfinite(real) || real < 0)
                fail_value(flag.name, text, "give a number, 0 or larger");
            break;
        case Kind::duration: try { parse_duration(text);
            } catch (const UsageError& error) {
                fail_value(flag.name, text, error.hint());
            }
            break;
        case Kind::assignment:
            if (equals == std::string::npos || !is_identifier(text.substr(0, equals)))
                fail_value(flag.name, text, "write it as NAME=VALUE");
            break;
        case Kind::choice:
            if (!flag.names_workers) check_choice(flag.name, text, flag.choices);
            break;
        case Kind::text:
        case Kind::words:
        case Kind::file:
        case Kind::folder:
            if (text.empty()) fail_value(flag.name, text, fmt::format("give a {}", lower(flag.value)));
            break;
        case Kind::on_off: break;
    }
}

void check_values(const CommandSpec& spec, const Arguments& arguments) {
    for (const Flag& flag : spec.flags) {
        if (!arguments.has(flag.name)) continue;
        std::vector<std::string> values = arguments.all(flag.name);
        if (values.size() > 1 && !flag.repeated)
            throw UsageError(fmt::format("{} was given {} times", flag.name, values.size()), "give it once");
        for (const std::string& value : values) check_value(flag, value);
    }
    for (const Positional& positional : spec.positionals) {
        if (positional.required && !arguments.has(positional.name))
            throw UsageError(fmt::format("`strop {}` needs {} {}", spec.name,
                                         positional.name.find_first_of("AEIOU") == 0 ? "an" : "a", positional.name),
                             fmt::format("{}: {}", positional.name, positional.help));
        for (const std::string& value : arguments.all(positional.name)) {
            if (value.empty())
                throw UsageError(fmt::format("{} is an empty text", positional.name),
                                 "a variable that is not set gives one where it stands in quotes");
            check_choice(positional.name, value, positional.choices);
        }
    }
}

// A value that looks like a flag was forgotten: "--out --json".
void check_missing_values(const CommandSpec& spec, const std::vector<std::string>& words) {
    for (size_t i = 0; i < words.size() && words[i] != "--"; ++i)
        for (const Flag& flag : spec.flags)
            if (flag.name == words[i] && flag.kind != Kind::on_off &&
                (i + 1 == words.size() || (flag.kind != Kind::words && words[i + 1].starts_with("--"))))
                throw UsageError(fmt::format("{} needs a value", flag.name),
                                 fmt::format("{} {}: {}", flag.name, flag.value, flag.help));
}

}  // namespace

Arguments parse(const CommandSpec& spec, const std::vector<std::string>& words) {
    CLI::App app;
    app.set_help_flag();  // main answers --help before it parses
    app.allow_extras();
    std::map<std::string, std::vector<std::string>> values;
    std::vector<CLI::Option*> options;
    for (const Flag& flag : spec.flags) {
        if (flag.kind == Kind::on_off) options.push_back(app.add_flag(flag.name));
        else
            options.push_back(
                app.add_option(flag.name, values[flag.name])->expected(1)->allow_extra_args(false)->take_all());
    }
    for (const Positional& positional : spec.positionals)
        options.push_back(app.add_option(positional.name, values[positional.name])
                              ->expected(1, positional.repeated ? CLI::detail::expected_max_vector_size : 1)
                              ->allow_extra_args(positional.repeated));

    check_missing_values(spec, words);
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 takes them from the back
    try {
        app.parse(reversed);
    } catch (const CLI::ParseError& error) {
        throw UsageError(fmt::format("`strop {}`: {}", spec.name, lower(error.what())), help_hint(spec));
    }
    std::vector<std::string> extras = app.remaining();
    for (const std::string& word : extras)
        if (word.starts_with("-") && word != "--") fail_extra(spec, word);
    if (!extras.empty()) fail_extra(spec, extras.front());

    Arguments arguments(spec);
    for (const CLI::Option* option : options) {
        if (option->count() == 0) continue;
        std::string name = option->get_positional() ? option->get_name(true) : "--" + option->get_lnames().front();
        arguments.set(name, option->results());
    }
    check_values(spec, arguments);
    take_named_device(arguments);
    return arguments;
}

}  // namespace strop::cli
