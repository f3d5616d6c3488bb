// strop man: the manual page, from the table of flags.
#include <fmt/format.h>

#include "base/strings.h"
#include "cli/commands.h"
#include "cli/help.h"

namespace strop::cli {

namespace {

// Plain text for roff: backslashes and hyphens escaped, no line begins with a control character.
std::string roff(const std::string& text) {
    std::string escaped = replace_all(replace_all(text, "\\", "\\e"), "-", "\\-");
    return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
}

std::string entry(const std::string& head, const std::string& body) {
    return fmt::format(".TP\n.B {}\n{}\n", roff(head), roff(body));
}

std::string facts_of(const std::string& title, const std::vector<Fact>& facts) {
    std::string text = fmt::format(".SH {}\n", title);
    for (const Fact& fact : facts) text += entry(fact.name, fact.says);
    return text;
}

std::string command_text(const CommandSpec& spec) {
    std::string text = fmt::format(".SS {}\n{}.\n", roff(usage_line(spec)), roff(spec.summary));
    for (const Positional& positional : spec.positionals) text += entry(positional.name, positional.help);
    for (const Flag& flag : spec.flags)
        text += entry(flag.value.empty() ? flag.name : flag.name + " " + flag.value, full_help(flag));
    for (const Example& example : spec.examples)
        text += fmt::format(".PP\n.nf\n{}\n.fi\n.RS\n{}\n.RE\n", roff(example.line), roff(example.says));
    return text;
}

}  // namespace

int command_man(const Arguments&) {
    std::string text = fmt::format(".TH STROP 1 \"\" \"strop {}\" \"User Commands\"\n", STROP_VERSION);
    text +=
        ".SH NAME\nstrop \\- fast kernels from a NumPy reference, proved correct\n"
        ".SH SYNOPSIS\n.B strop\n.I COMMAND\n[\\fIarguments\\fR]\n"
        ".SH DESCRIPTION\nStrop turns a NumPy reference and the shapes its user cares about into the fastest "
        "C++ kernel "
        "that it can find and prove correct on this machine: one dispatching function over all shapes, and a "
        "report "
        "that says why to believe it.\n.PP\nResults go to standard output, everything else to standard "
        "error.\n"
        ".SH COMMANDS\n";
    for (const CommandSpec& spec : commands())
        if (!spec.hidden) text += command_text(spec);
    text += facts_of("ENVIRONMENT", environment_facts()) + facts_of("EXIT STATUS", exit_facts());
    fmt::print("{}", text);
    return 0;
}

}  // namespace strop::cli
