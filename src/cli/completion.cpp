// strop completion: what shells need to complete commands, flags, problems and runs. All from the table of
// flags.
#include <fmt/format.h>

#include "base/strings.h"
#include "cli/commands.h"

namespace strop::cli {

namespace {

// Names that only the program knows are asked for when they are needed; "$1" is the program.
const char* const ask_problems = "list 2>/dev/null | awk 'NR > 1 {print $1}'";
const char* const ask_runs = "runs 2>/dev/null | awk 'NR > 1 {print $1}'";

std::vector<const CommandSpec*> shown() {
    std::vector<const CommandSpec*> result;
    for (const CommandSpec& spec : commands())
        if (!spec.hidden) result.push_back(&spec);
    return result;
}

std::vector<std::string> flag_names(const CommandSpec& spec) {
    std::vector<std::string> names;
    for (const Flag& flag : spec.flags) names.push_back(flag.name);
    names.push_back("--help");
    return names;
}

// For 'single quotes' of a shell.
std::string quoted(const std::string& text) { return "'" + replace_all(text, "'", "'\\''") + "'"; }

std::string bash_words(const Positional& positional) {
    switch (positional.completes) {
        case Completes::problems: return fmt::format("$(\"$1\" {})", ask_problems);
        case Completes::runs: return fmt::format("$(\"$1\" {})", ask_runs);
        case Completes::choices: return join(positional.choices, " ");
        case Completes::nothing: return "";
    }
    return {};
}

std::string bash() {
    std::vector<std::string> names;
    std::string cases, values;
    for (const CommandSpec* spec : shown()) {
        names.push_back(spec->name);
        std::string words = spec->positionals.empty() ? "" : bash_words(spec->positionals.front());
        cases +=
            fmt::format("        {}) flags=\"{}\"; words=\"{}\" ;;\n", spec->name, join(flag_names(*spec), " "), words);
        for (const Flag& flag : spec->flags) {
            if (flag.kind == Kind::choice)
                values += fmt::format("        {}:{}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
                                      spec->name, flag.name, join(flag.choices, " "));
            else if (flag.kind == Kind::folder || flag.kind == Kind::file)
                values += fmt::format("        {}:{}) COMPREPLY=($(compgen -{} -- \"$word\")); return ;;\n", spec->name,
                                      flag.name, flag.kind == Kind::folder ? "d" : "f");
            else if (flag.kind != Kind::on_off)
                values += fmt::format("        {}:{}) return ;;\n", spec->name, flag.name);
        }
    }
    return fmt::format(R"(# bash completion for strop
_strop() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" flags="" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{} --help --version" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}:$before" in
{}    esac
    case "${{COMP_WORDS[1]}}" in
{}        *) return ;;
    esac
    if [[ "$word" == -* ]]; then
        COMPREPLY=($(compgen -W "$flags" -- "$word"))
    else
        COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
    fi
}}
complete -o filenames -F _strop strop
)",
                       join(names, " "), values, cases);
}

std::string zsh_value(const Flag& flag) {
    if (flag.kind == Kind::on_off) return "";
    std::string action = flag.kind == Kind::choice   ? "(" + join(flag.choices, " ") + ")"
                         : flag.kind == Kind::file   ? "_files"
                         : flag.kind == Kind::folder ? "_files -/"
                                                     : " ";
    return fmt::format(":{}:{}", lower(flag.value), action);
}

// Text inside [...] of an _arguments specification.
std::string zsh_text(const std::string& text) {
    return replace_all(replace_all(replace_all(text, "[", "("), "]", ")"), ":", "\\:");
}

std::string zsh() {
    std::string names, cases;
    for (const CommandSpec* spec : shown()) {
        names += fmt::format("        {}\n", quoted(spec->name + ":" + replace_all(spec->summary, ":", "\\:")));
        std::string arguments = " '--help[this text]'";
        for (const Flag& flag : spec->flags)
            arguments += " " + quoted(fmt::format("{}{}[{}]{}", flag.repeated ? "*" : "", flag.name,
                                                  zsh_text(flag.help), zsh_value(flag)));
        for (const Positional& positional : spec->positionals) {
            std::string action = positional.completes == Completes::problems ? "_strop_problems"
                                 : positional.completes == Completes::runs   ? "_strop_runs"
                                 : positional.choices.empty()                ? "_files"
                                                              : "(" + join(positional.choices, " ") + ")";
            arguments +=
                " " + quoted(fmt::format("{}:{}:{}", positional.repeated ? "*" : "", lower(positional.name), action));
        }
        cases += fmt::format("        {}) _arguments{} ;;\n", spec->name, arguments);
    }
    return fmt::format(R"(#compdef strop
_strop_problems() {{ compadd -- $($program {}); _files -/ }}
_strop_runs() {{ compadd -- $($program {}) }}
_strop() {{
    local program=$words[1] names=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command names
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
{}    esac
}}
if [[ $funcstack[1] == _strop ]]; then _strop "$@"; else compdef _strop strop; fi
)",
                       ask_problems, ask_runs, names, cases);
}

std::string fish_line(const std::string& condition, const std::string& rest) {
    return fmt::format("complete -c strop -n {} {}\n", quoted(condition), rest);
}

std::string fish() {
    std::string text = "# fish completion for strop\n";
    for (const CommandSpec* spec : shown()) {
        text += fish_line("__fish_use_subcommand", fmt::format("-f -a {} -d {}", spec->name, quoted(spec->summary)));
        std::string inside = "__fish_seen_subcommand_from " + spec->name;
        for (const Flag& flag : spec->flags) {
            std::string value = flag.kind == Kind::choice ? fmt::format(" -x -a {}", quoted(join(flag.choices, " ")))
                                : flag.kind == Kind::file || flag.kind == Kind::folder ? " -r -F"
                                : flag.kind == Kind::on_off                            ? ""
                                                                                       : " -x";
            text += fish_line(inside, fmt::format("-l {}{} -d {}", flag.name.substr(2), value, quoted(flag.help)));
        }
        for (const Positional& positional : spec->positionals) {
            const char* ask = positional.completes == Completes::problems ? ask_problems
                              : positional.completes == Completes::runs   ? ask_runs
                                                                          : nullptr;
            const std::string values =
                ask ? fmt::format("((commandline -po)[1] {})", ask) : join(positional.choices, " ");
            if (!values.empty()) text += fish_line(inside, "-a " + quoted(values));
        }
    }
    return text;
}

}  // namespace

int command_completion(const Arguments& arguments) {
    std::string shell = arguments.text("SHELL");
    fmt::print("{}", shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish());
    return 0;
}

}  // namespace strop::cli
