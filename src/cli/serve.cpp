// strop serve: the page of all runs, for a browser.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/problem_argument.h"
#include "cli/store_access.h"
#include "serve/http_server.h"
#include "serve/site.h"

namespace strop::cli {

namespace {

constexpr size_t shortest_token = 16;

std::string checked_token(const std::string& token, const std::string& source) {
    const bool plain = std::all_of(token.begin(), token.end(), [](unsigned char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    });
    if (token.size() < shortest_token || !plain)
        throw UsageError(fmt::format("{}: is not a token", source),
                         fmt::format("at least {} letters, digits, - and _ that nobody guesses", shortest_token));
    return token;
}

std::string token_of_file(const fs::path& file) {
    const std::string text = read_file(file);
    if ((fs::status(file).permissions() & (fs::perms::group_all | fs::perms::others_all)) != fs::perms::none)
        throw UsageError(fmt::format("{}: others may use this token file", file.string()),
                         fmt::format("chmod 600 {}", file.string()));
    return checked_token(std::string(trim(text)), file.string());
}

// Of the user's choice; else a new one where others could reach the address.
std::string token_of(const Arguments& arguments) {
    if (arguments.has("--token") && arguments.has("--token-file"))
        throw UsageError("--token and --token-file name two tokens", "give one of them");
    if (arguments.has("--token")) return checked_token(arguments.text("--token"), "--token");
    if (arguments.has("--token-file")) return token_of_file(arguments.text("--token-file"));
    return serve::is_loopback(arguments.text("--host")) ? "" : serve::random_token();
}

std::string machine_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

// What a browser opens. A token that the user chose is the user's to type.
std::string address_of(const serve::Access& access, int port, bool chosen) {
    const bool everywhere = access.address == "0.0.0.0" || access.address == "::";
    std::string host = everywhere ? access.machine : access.address;
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    const std::string token = access.token.empty() ? "" : "?token=" + (chosen ? "TOKEN" : access.token);
    return fmt::format("http://{}:{}/{}", host, port, token);
}

}  // namespace

int command_serve(const Arguments& arguments) {
    serve::SiteOptions options;
    options.store = store_address(arguments);
    options.program = fs::read_symlink("/proc/self/exe");
    for (const ProblemSummary& problem : known_problems()) options.problems.push_back(problem.name);
    options.access = {arguments.text("--host"), machine_name(), token_of(arguments), serve::random_token()};
    const int64_t port = arguments.integer("--port");
    if (port > 65535)
        throw UsageError(fmt::format("--port {}: is not a port", port), "a number up to 65535; 0: any that is free");
    const bool exists = Store::existing(options.store) != nullptr;  // what is wrong with it is said now
    const std::string store = options.store.shown();
    const serve::Access access = options.access;
    install_interrupt_handler();
    serve::Site site(std::move(options));
    serve::HttpServer server(access.address, static_cast<int>(port),
                             [&site](const serve::Request& request) { return site.answer(request); });
    if (!exists) fmt::print(stderr, "! {} does not exist yet; the first run makes it\n", store);
    fmt::print("{}\n", address_of(access, server.port(), arguments.has("--token") || arguments.has("--token-file")));
    std::fflush(stdout);
    while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    throw Interrupted();
}

}  // namespace strop::cli
