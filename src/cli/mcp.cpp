// strop mcp: the Model Context Protocol over standard input and output.
#include <csignal>
#include <iostream>

#include "base/file.h"
#include "cli/commands.h"
#include "mcp/server.h"
#include "mcp/tools.h"

namespace strop::cli {

int command_mcp(const Arguments&) {
    const fs::path contract = home_folder() / "docs" / "kernels.md";
    mcp::Program program{fs::read_symlink("/proc/self/exe"), STROP_VERSION,
                         fs::exists(contract) ? read_file(contract) : std::string()};
    std::signal(SIGPIPE, SIG_IGN);  // a client that vanished is seen at the end of its input
    const mcp::Service service = mcp::strop_service(program);
    mcp::serve(service, std::cin, std::cout);
    return 0;
}

}  // namespace strop::cli
