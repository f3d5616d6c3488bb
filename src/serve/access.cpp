#include "serve/access.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <sys/random.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::serve {

namespace {

constexpr const char* cookie_name = "strop_token";

// In a time that does not tell how much of it is right.
bool same_secret(const std::string& given, const std::string& secret) {
    unsigned char difference = given.size() != secret.size();
    for (size_t i = 0; i < given.size(); ++i)
        difference |= static_cast<unsigned char>(given[i] ^ secret[i % std::max<size_t>(secret.size(), 1)]);
    return difference == 0 && !secret.empty();
}

std::string cookie_of(const Request& request) {
    for (const std::string& part : split(request.header("cookie"), ';')) {
        const std::string_view pair = trim(part);
        const size_t equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == cookie_name)
            return std::string(pair.substr(equals + 1));
    }
    return {};
}

bool bears_token(const Access& access, const Request& request) {
    constexpr std::string_view bearer = "Bearer ";
    const std::string authorization = request.header("authorization");
    return authorization.starts_with(bearer) && same_secret(authorization.substr(bearer.size()), access.token);
}

bool knows_token(const Access& access, const Request& request) {
    return same_secret(request.field("token"), access.token) || same_secret(cookie_of(request), access.token) ||
           bears_token(access, request);
}

Response without_token(const std::string& words) {
    Response response = plain_text(401, "a token is needed: " + words);
    response.headers["WWW-Authenticate"] = "Bearer";
    return response;
}

// "[::1]:8765" and "localhost" without brackets and port. Any port will do: a tunnel has its own.
std::string host_name(const std::string& host) {
    if (host.starts_with("[")) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

bool is_number(const std::string& name) {
    unsigned char bytes[16];
    return ::inet_pton(AF_INET, name.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

// A page whose name was made to point here (DNS rebinding) still sends its own name, and it cannot be a number.
bool is_ours(const Access& access, const std::string& host) {
    if (host.find_first_of(", \t") != std::string::npos) return false;  // two of them
    const std::string name = lower(host_name(host));
    if (name == lower(access.address)) return true;
    if (is_loopback(access.address)) return name == "localhost" || (is_number(name) && is_loopback(name));
    const bool everywhere = access.address == "0.0.0.0" || access.address == "::";
    return everywhere && (is_number(name) || name == "localhost" || name == lower(access.machine) ||
                          name.starts_with(lower(access.machine) + "."));
}

bool from_elsewhere(const Request& request) {
    const std::string origin = request.header("origin"), site = request.header("sec-fetch-site");
    if (!origin.empty() && lower(origin) != "http://" + lower(request.header("host"))) return true;
    const bool follows_link = request.method == "GET" && request.header("sec-fetch-mode") == "navigate";
    return !site.empty() && site != "same-origin" && site != "none" && !follows_link;
}

std::optional<Response> misdirected(const Access& access, const Request& request) {
    if (!is_ours(access, request.header("host")))
        return plain_text(403, fmt::format("'{}' is not an address of this server", printable(request.header("host"))));
    if (from_elsewhere(request)) return plain_text(403, "another site's page may not ask this server");
    return {};
}

}  // namespace

std::string random_token() {
    unsigned char bytes[16];
    if (::getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        throw EnvironmentError(fmt::format("the system gives no random bytes: {}", std::strerror(errno)), "try again");
    std::string text;
    for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

bool is_loopback(const std::string& address) {
    return address == "localhost" || address == "::1" || (is_number(address) && address.starts_with("127."));
}

std::optional<Response> refusal(const Access& access, const Request& request) {
    if (!access.token.empty() && !bears_token(access, request))
        return without_token("send it as `Authorization: Bearer TOKEN`");
    return misdirected(access, request);
}

std::optional<Response> first_answer(const Access& access, const Request& request) {
    if (!access.token.empty() && !knows_token(access, request))
        return without_token("open the address that `strop serve` printed");
    if (std::optional<Response> refused = misdirected(access, request)) return refused;
    if (request.method == "POST" && !same_secret(request.field("form_token"), access.form_token))
        return plain_text(403, "the form is not of this server, or of an earlier one: go back, load the page again");
    if (access.token.empty() || request.method != "GET" || !same_secret(request.field("token"), access.token))
        return {};
    Response response = redirect(request.path.starts_with("//") ? "/" : request.path);
    response.headers["Set-Cookie"] = fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name, access.token);
    return response;
}

}  // namespace strop::serve
