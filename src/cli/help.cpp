#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/terminal.h"

namespace strop::cli {

namespace {

// `text` in lines of at most `width` columns, all but the first indented.
std::string wrapped(const std::string& text, size_t indent, size_t width) {
    std::string result;
    size_t column = indent;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find(' ', at), text.size());
        size_t length = end - at;
        if (column > indent && column + 1 + length > width) {
            result += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            result += " ";
            ++column;
        }
        result.append(text, at, length);
        column += length;
        at = end + 1;
    }
    return result;
}

// Two columns.
std::string table_of(const std::vector<Fact>& rows) {
    size_t left = 0, width = std::clamp(terminal_width(), 60, 110);
    for (const Fact& row : rows) left = std::max(left, row.name.size());
    std::string text;
    for (const Fact& row : rows)
        text += fmt::format("  {:{}}  {}\n", row.name, left, wrapped(row.says, left + 4, width));
    return text;
}

std::string examples_of(const CommandSpec& spec) {
    std::string text;
    for (const Example& example : spec.examples) text += fmt::format("  {}\n      {}\n", example.line, example.says);
    return text;
}

std::string section(const std::string& title, const std::string& body) {
    return body.empty() ? "" : fmt::format("\n{}:\n{}", title, body);
}

}  // namespace

const std::vector<Fact>& environment_facts() {
    static const std::vector<Fact> facts = {
        {"STROP_STORE", "the file or PostgreSQL database that holds all runs (strop-out/strop.db)"},
        {"STROP_CACHE", "measurements of this machine, compiled kernels (~/.cache/strop)"},
        {"STROP_PYTHON", "the Python with NumPy that runs references"},
        {"STROP_LOG", "trace, debug, info, warn or error: diagnostics on standard error"},
        {"NO_COLOR", "no colours, ever"},
        {"PIP_EXTRA_INDEX_URL", "read by pip in `./strop setup torch`: names an index with builds for CPUs only"}};
    return facts;
}

const std::vector<Fact>& exit_facts() {
    static const std::vector<Fact> facts = {
        {"0", "improved, or nothing to improve in this command"},
        {"1", "finished without an improvement, or with a result that does not hold"},
        {"2", "wrong usage or bad input"},
        {"3", "the machine lacks something; the hint says how to get it"},
        {"4", "a bug in Strop"},
        {"130", "interrupted, state saved"}};
    return facts;
}

std::string usage_line(const CommandSpec& spec) {
    std::string text = "strop " + spec.name;
    for (const Positional& positional : spec.positionals) {
        std::string name = positional.name + (positional.repeated ? "..." : "");
        text += positional.required ? " " + name : " [" + name + "]";
    }
    return text + (spec.flags.empty() ? "" : " [flags]");
}

std::string full_help(const Flag& flag) {
    return flag.standard.empty() ? flag.help : fmt::format("{} (default: {})", flag.help, flag.standard);
}

std::string main_help() {
    std::string text =
        "strop turns a NumPy reference and the shapes you care about into the fastest C++ kernel that it\n"
        "can find and prove correct on this machine.\n\nexamples:\n";
    for (const char* name : {"optimize", "list", "report", "doctor"}) {
        const Example& example = find_command(name)->examples.front();
        text += fmt::format("  {}\n      {}\n", example.line, example.says);
    }
    std::vector<Fact> rows;
    for (const CommandSpec& spec : commands())
        if (!spec.hidden) rows.push_back({spec.name, spec.summary});
    text += section("commands", table_of(rows));
    text += section("environment", table_of(environment_facts()));
    text += section("exit codes", table_of(exit_facts()));
    return text + "\n`strop COMMAND --help` tells more; `strop --version`; `strop man | man -l -` is the manual.\n";
}

std::string command_help_text(const CommandSpec& spec) {
    std::string text = fmt::format("strop {}: {}\n", spec.name, spec.summary);
    text += section("examples", examples_of(spec));
    text += fmt::format("\nusage: {}\n", usage_line(spec));
    std::vector<Fact> positionals, flags;
    for (const Positional& positional : spec.positionals) positionals.push_back({positional.name, positional.help});
    for (const Flag& flag : spec.flags)
        flags.push_back({flag.value.empty() ? flag.name : flag.name + " " + flag.value, full_help(flag)});
    flags.push_back({"--help", "this text"});
    return text + section("arguments", table_of(positionals)) + section("flags", table_of(flags));
}

int command_help(const Arguments& arguments) {
    std::string name = arguments.text("COMMAND");
    if (name.empty()) {
        fmt::print("{}", main_help());
        return 0;
    }
    const CommandSpec* spec = find_command(name);
    if (!spec) fail_unknown_command(name);
    fmt::print("{}", command_help_text(*spec));
    return 0;
}

}  // namespace strop::cli
