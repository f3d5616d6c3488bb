#include "knowledge/store_address.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop {

namespace fs = std::filesystem;

namespace {

constexpr const char* form = "as in postgresql://USER@HOST/DATABASE; letters such as @ : / ? in a name are written %40";

bool names_server(std::string_view text) {
    return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

bool is_scheme(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-';
    });
}

// Also keeps what has a meaning of its own in URLs, but not between a parameter and the next: "/tmp", "h1,h2".
std::string encoded(std::string_view text, std::string_view kept) {
    std::string result;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (plain || kept.find(c) != std::string_view::npos) result += c;
        else result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return result;
}

bool is_secret(const std::string& option) { return option == "password" || option == "sslpassword"; }

// A password with letters that should have been encoded is read as a host, a port or a name: none of it may be shown.
bool is_plausible(const std::map<std::string, std::string>& options) {
    auto has_none_of = [&](const char* option, const char* letters) {
        auto found = options.find(option);
        return found == options.end() || found->second.find_first_of(letters) == std::string::npos;
    };
    auto port = options.find("port");
    return has_none_of("host", "@") && has_none_of("dbname", "@/:") && has_none_of("user", "/") &&
           (port == options.end() || port->second.find_first_not_of("0123456789,") == std::string::npos);
}

std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parsed_by_libpq(const std::string& text) {
    return {PQconninfoParse(text.c_str(), nullptr), PQconninfoFree};  // what it complains about may be the password
}

// What was meant as an address, though in another form: no name of a file, and it may hold a password.
bool is_mistaken_address(const std::string& text) {
    const std::string small = lower(text);
    const bool slip = small.starts_with("postgres") && small.find('@') != std::string::npos;
    const bool keywords = text.find('=') != std::string::npos && parsed_by_libpq(text) != nullptr;
    return slip || keywords || small.find("password=") != std::string::npos;
}

std::string& hidden_store() {
    static std::string address;
    return address;
}

std::string& hidden_password_text() {
    static std::string password;
    return password;
}

void take_out(const char* variable, std::string& kept) {
    char* value = std::getenv(variable);
    if (!value || !*value) return;
    kept = value;
    ::explicit_bzero(value, std::strlen(value));
    ::unsetenv(variable);
}

}  // namespace

StoreAddress::StoreAddress(const fs::path& text) : given_(text.string()) {
    const size_t colon = given_.find("://");
    if (colon != std::string::npos && is_scheme(given_.substr(0, colon)) && !is_server())
        throw UsageError(fmt::format("{}://: is no address of a store", given_.substr(0, colon)),
                         "a store is a file, or postgresql://USER@HOST/DATABASE");
    if (!is_server() && is_mistaken_address(given_))
        throw UsageError("the store is named by an address of another form (not shown, as it may hold a password)",
                         form);
}

StoreAddress StoreAddress::standard() {
    const char* chosen = std::getenv("STROP_STORE");
    if (chosen && *chosen) return StoreAddress(chosen);
    return hidden_store().empty() ? StoreAddress(fs::path("strop-out") / "strop.db") : StoreAddress(hidden_store());
}

bool StoreAddress::is_server() const { return names_server(given_); }

std::map<std::string, std::string> StoreAddress::options() const {
    const auto parsed = parsed_by_libpq(given_);
    std::map<std::string, std::string> options;
    for (const PQconninfoOption* option = parsed.get(); option && option->keyword; ++option)
        if (option->val && *option->val) options[option->keyword] = option->val;
    if (!parsed || !is_plausible(options))
        throw UsageError("postgresql://...: the address of the store cannot be read", form);
    return options;
}

bool StoreAddress::has_password() const {
    if (!is_server()) return false;
    const std::map<std::string, std::string> all = options();
    return std::any_of(all.begin(), all.end(), [](const auto& option) { return is_secret(option.first); });
}

std::string StoreAddress::shown() const {
    if (!is_server()) return given_;
    std::map<std::string, std::string> rest = options();
    auto take = [&rest](const char* option) {
        auto node = rest.extract(option);
        return node.empty() ? std::string() : node.mapped();
    };
    const std::string user = take("user"), name = take("dbname");
    std::string text = "postgresql://" + (user.empty() ? "" : encoded(user, "-._~") + "@");
    if (auto host = rest.find("host"); host != rest.end() && host->second.find_first_of("/,") == std::string::npos) {
        const bool is_v6 = host->second.find(':') != std::string::npos;
        text += is_v6 ? "[" + take("host") + "]" : encoded(take("host"), "-._~");
        if (const std::string port = take("port"); !port.empty()) text += ":" + port;
    }
    text += "/" + encoded(name, "-._~");
    const char* mark = "?";
    for (const auto& [option, value] : rest) {
        if (is_secret(option)) continue;
        text += mark + option + "=" + encoded(value, "-._~/,:");
        mark = "&";
    }
    return text;
}

void hide_store_passwords() {
    if (const char* store = std::getenv("STROP_STORE"); store && names_server(store))
        take_out("STROP_STORE", hidden_store());
    take_out("PGPASSWORD", hidden_password_text());
}

const std::string& hidden_password() { return hidden_password_text(); }

void blank_store_password(char* word) {
    char* begin = std::strstr(word, "postgresql://");
    if (!begin) begin = std::strstr(word, "postgres://");
    if (!begin) return;
    begin = std::strstr(begin, "://") + 3;
    char* at = std::strrchr(begin, '@');
    char* colon = std::strchr(begin, ':');
    if (at && colon && colon < at) std::fill(colon + 1, at, 'x');
    if (char* query = std::strchr(at ? at : begin, '?'); query && std::strstr(query, "password"))
        std::fill(query + 1, query + std::strlen(query), 'x');
}

}  // namespace strop
