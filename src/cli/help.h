// Texts made from the table of flags.
#pragma once

#include <string>

#include "cli/flags.h"

namespace strop::cli {

std::string main_help();
std::string command_help_text(const CommandSpec& spec);
// "strop optimize PROBLEM [flags]"
std::string usage_line(const CommandSpec& spec);
// What a flag's help says in full: its standard value included.
std::string full_help(const Flag& flag);

// Environment variables and exit codes, for the help and the manual.
struct Fact {
    std::string name, says;
};
const std::vector<Fact>& environment_facts();
const std::vector<Fact>& exit_facts();

}  // namespace strop::cli
