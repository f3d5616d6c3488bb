#include "cli/flags_listening.h"

#include "cli/commands.h"

namespace strop::cli {

namespace {

Flag port_flag(const std::string& standard) {
    return {"--port", "N", "where it listens; 0: any port that is free", Kind::whole, standard};
}
const Flag host_flag = {"--host", "ADDRESS", "what it listens on; any but this machine's loopback needs a token",
                        Kind::text, "127.0.0.1"};
const Flag token_flag = {"--token", "TOKEN", "what who asks must know (default: none on loopback, else a new one)",
                         Kind::text, ""};
const Flag token_file_flag = {"--token-file", "FILE", "holds the token, readable by you alone", Kind::file, ""};

}  // namespace

CommandSpec serve_command(const Flag& store) {
    return {"serve",
            "a page of all runs for a browser: reports, progress, comparisons; starts, stops and resumes runs",
            {},
            {port_flag("8765"), host_flag, store, token_flag, token_file_flag},
            {{"./strop serve", "then open the address that it prints"},
             {"./strop serve --host 0.0.0.0", "for other machines, with a token in the address"}},
            command_serve};
}

CommandSpec mcp_command() {
    return {"mcp",
            "serve an assistant: the Model Context Protocol over standard input and output, or over HTTP",
            {},
            {{"--http", "", "listen for assistants, at the address that it prints, until Ctrl-C"},
             port_flag("8766"),
             host_flag,
             token_flag,
             token_file_flag},
            {{"./strop mcp", "what an assistant's configuration starts"},
             {"./strop mcp --http", "for assistants that are given an address"}},
            command_mcp};
}

}  // namespace strop::cli
