// strop serve: the page of all runs, for a browser.
#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/commands.h"
#include "cli/listening.h"
#include "cli/problem_argument.h"
#include "cli/store_access.h"
#include "serve/http_server.h"
#include "serve/site.h"

namespace strop::cli {

namespace {

// What a browser opens. A token that the user chose is the user's to type.
std::string address_of(const serve::Access& access, int port, bool chosen) {
    const std::string token = access.token.empty() ? "" : "?token=" + (chosen ? "TOKEN" : access.token);
    return url_of(access, port) + "/" + token;
}

}  // namespace

int command_serve(const Arguments& arguments) {
    serve::SiteOptions options;
    options.store = store_address(arguments);
    options.program = fs::read_symlink("/proc/self/exe");
    for (const ProblemSummary& problem : known_problems()) options.problems.push_back(problem.name);
    options.access = access_of(arguments);
    const int port = port_of(arguments);
    const bool exists = Store::existing(options.store) != nullptr;  // what is wrong with it is said now
    const std::string store = options.store.shown();
    const serve::Access access = options.access;
    install_interrupt_handler();
    serve::Site site(std::move(options));
    serve::HttpServer server(access.address, port,
                             [&site](const serve::Request& request) { return site.answer(request); });
    if (!exists) fmt::print(stderr, "! {} does not exist yet; the first run makes it\n", store);
    fmt::print("{}\n", address_of(access, server.port(), chose_token(arguments)));
    std::fflush(stdout);
    wait_for_interrupt();
    throw Interrupted();
}

}  // namespace strop::cli
