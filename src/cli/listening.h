// Where `strop serve` and `strop mcp --http` listen, and who is answered there.
#pragma once

#include <string>

#include "cli/flags.h"
#include "serve/access.h"

namespace strop::cli {

int port_of(const Arguments& arguments);
// With a token of the user's choice; else with a new one where others could reach the address.
serve::Access access_of(const Arguments& arguments);
bool chose_token(const Arguments& arguments);

// "http://127.0.0.1:8765", as others reach it.
std::string url_of(const serve::Access& access, int port);

// Until the user asks to stop.
void wait_for_interrupt();

}  // namespace strop::cli
