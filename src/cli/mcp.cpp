// strop mcp: the Model Context Protocol over standard input and output, or over HTTP.
#include <csignal>
#include <iostream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/commands.h"
#include "cli/listening.h"
#include "cli/mcp_endpoint.h"
#include "mcp/server.h"
#include "mcp/tools.h"
#include "serve/http_server.h"

namespace strop::cli {

namespace {

// Calls take a thread each for as long as they run; what cancels them has to find one.
constexpr serve::HttpLimits limits = {4 << 20, 2 * most_mcp_calls};

int serve_over_http(const mcp::Service& service, const Arguments& arguments) {
    const serve::Access access = access_of(arguments);
    install_interrupt_handler();
    McpEndpoint endpoint(service, access);
    const serve::HttpServer server(
        access.address, port_of(arguments),
        [&endpoint](const serve::Request& request) { return endpoint.answer(request); }, limits);
    fmt::print("{}{}\n", url_of(access, server.port()), mcp_path);
    if (!access.token.empty() && !chose_token(arguments)) fmt::print("Authorization: Bearer {}\n", access.token);
    std::fflush(stdout);
    wait_for_interrupt();
    endpoint.stop();
    throw Interrupted();
}

}  // namespace

int command_mcp(const Arguments& arguments) {
    const fs::path contract = home_folder() / "docs" / "kernels.md";
    mcp::Program program{fs::read_symlink("/proc/self/exe"), STROP_VERSION,
                         fs::exists(contract) ? read_file(contract) : std::string()};
    std::signal(SIGPIPE, SIG_IGN);  // a client that vanished is seen at the end of its input
    const mcp::Service service = mcp::strop_service(program);
    if (arguments.has("--http")) return serve_over_http(service, arguments);
    for (const char* flag : {"--port", "--host", "--token", "--token-file"})
        if (arguments.has(flag))
            throw UsageError(fmt::format("{} is for HTTP", flag), fmt::format("strop mcp --http {} ...", flag));
    mcp::serve(service, std::cin, std::cout);
    return 0;
}

}  // namespace strop::cli
