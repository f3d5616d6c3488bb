#include "cli/listening.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"

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

}  // namespace

int port_of(const Arguments& arguments) {
    const int64_t port = arguments.integer("--port");
    if (port > 65535)
        throw UsageError(fmt::format("--port {}: is not a port", port), "a number up to 65535; 0: any that is free");
    return static_cast<int>(port);
}

serve::Access access_of(const Arguments& arguments) {
    return {arguments.text("--host"), machine_name(), token_of(arguments), serve::random_token()};
}

bool chose_token(const Arguments& arguments) { return arguments.has("--token") || arguments.has("--token-file"); }

std::string url_of(const serve::Access& access, int port) {
    const bool everywhere = access.address == "0.0.0.0" || access.address == "::";
    std::string host = everywhere ? access.machine : access.address;
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    return fmt::format("http://{}:{}", host, port);
}

void wait_for_interrupt() {
    while (!interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

}  // namespace strop::cli
