// Of the table in flags.cpp: commands that listen on an address.
#pragma once

#include "cli/flags.h"

namespace strop::cli {

CommandSpec serve_command(const Flag& store);
CommandSpec mcp_command();

}  // namespace strop::cli
