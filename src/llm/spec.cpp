#include "llm/spec.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/strings.h"

namespace strop::llm {

namespace {

constexpr const char* forms =
    "known forms are openai/MODEL, openai-chat/MODEL, anthropic/MODEL, gemini/MODEL, compatible/MODEL and "
    "exec:COMMAND, each with ROLE= before it where it is for one role only";

const std::vector<std::string>& roles() {
    static const std::vector<std::string> roles = {"planner",      "coder",  "fixer",    "analyst",
                                                   "experimenter", "scorer", "reflector"};
    return roles;
}

const std::vector<std::string>& providers() {
    static const std::vector<std::string> providers = {"openai", "openai-chat", "anthropic", "gemini", "compatible"};
    return providers;
}

bool knows(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
    std::vector<std::string> near = nearest(word, names, 1);
    return near.empty() ? "known are " + join(names, ", ") : fmt::format("did you mean '{}'?", near[0]);
}

// Takes "coder=" off the front. A command may hold '=' as well, but never before its ':'.
std::string take_role(std::string& rest, const std::string& text) {
    size_t equals = rest.find('=');
    if (equals == std::string::npos || rest.find_first_of("/:") < equals) return {};
    std::string role = rest.substr(0, equals);
    if (!knows(roles(), role))
        throw UsageError(fmt::format("'{}': no role is called '{}'", text, role), did_you_mean(role, roles()));
    rest.erase(0, equals + 1);
    return role;
}

bool is_plain(const std::string& name) {
    return std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > 0x20 && c != 0x7f; });
}

std::vector<const char*> variables_of(const std::string& provider) {
    if (provider == "openai" || provider == "openai-chat") return {"OPENAI_API_KEY"};
    if (provider == "anthropic") return {"ANTHROPIC_API_KEY"};
    if (provider == "gemini") return {"GEMINI_API_KEY", "GOOGLE_API_KEY"};
    if (provider == "compatible") return {"STROP_API_KEY"};
    return {};
}

// A key travels in a header: a second line in it would be a header of its own. Never shows what it has read.
std::string checked_key(const std::string& raw, const std::string& source) {
    std::string key(trim(raw));
    bool printable = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (!printable)
        throw UsageError(fmt::format("{}: holds more than a key (blanks, lines or special characters)", source),
                         "put the key there, alone on one line");
    return key;
}

struct OpenFile {
    int fd;
    ~OpenFile() {
        if (fd >= 0) ::close(fd);
    }
};

std::string read_key_file(const std::string& path) {
    constexpr size_t most = 16384;
    OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat status = {};
    if (file.fd < 0 || ::fstat(file.fd, &status) != 0)
        throw UsageError(fmt::format("{}: the key file cannot be read: {}", path, std::strerror(errno)),
                         "check the path and its permissions");
    if (S_ISDIR(status.st_mode)) throw UsageError(fmt::format("{}: is a folder, not a key file", path));
    if (status.st_mode & 077)
        throw UsageError(fmt::format("{}: others may use this key file (mode {:04o})", path, status.st_mode & 07777),
                         fmt::format("chmod 600 {}", path));
    std::string text;
    char buffer[4096];
    for (ssize_t n; text.size() <= most && (n = ::read(file.fd, buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(n));
    if (text.size() > most) throw UsageError(fmt::format("{}: is too long for a key file", path));
    std::string key = checked_key(text, path);
    if (key.empty()) throw UsageError(fmt::format("{}: the key file is empty", path));
    return key;
}

}  // namespace

std::string Spec::text() const {
    std::string name = provider == "exec" ? "exec:" + model : provider + "/" + model;
    return role.empty() ? name : role + "=" + name;
}

Spec parse_spec(const std::string& text) {
    std::string rest(trim(text));
    if (rest.empty()) throw UsageError("an empty text names no model", forms);
    Spec spec;
    spec.role = take_role(rest, text);
    if (rest.starts_with("exec:")) {
        spec.provider = "exec";
        spec.model = trim(std::string_view(rest).substr(5));
        if (spec.model.empty() || spec.model.find('\0') != std::string::npos)
            throw UsageError(fmt::format("'{}': names no command", text), "write exec:COMMAND");
        return spec;
    }
    size_t slash = rest.find('/');
    if (slash == std::string::npos) throw UsageError(fmt::format("'{}': names no provider", text), forms);
    spec.provider = rest.substr(0, slash);
    spec.model = rest.substr(slash + 1);
    if (!knows(providers(), spec.provider)) {
        std::vector<std::string> near = nearest(spec.provider, providers(), 1);
        throw UsageError(fmt::format("'{}': no provider is called '{}'", text, spec.provider),
                         near.empty() ? forms : fmt::format("did you mean '{}/{}'?", near[0], spec.model));
    }
    if (spec.model.empty() || !is_plain(spec.model))
        throw UsageError(fmt::format("'{}': {}", text, spec.model.empty() ? "names no model" : "blanks in a name"),
                         forms);
    return spec;
}

std::string find_key(const std::string& provider, const std::string& key_file) {
    std::vector<const char*> variables = variables_of(provider);
    if (variables.empty()) return {};
    if (!key_file.empty()) return read_key_file(key_file);
    for (const char* variable : variables)
        if (const char* value = std::getenv(variable); value && *value) return checked_key(value, variable);
    return {};
}

void hide_keys() {
    for (const std::string& provider : providers())
        for (const char* variable : variables_of(provider)) {
            char* value = std::getenv(variable);
            if (!value) continue;
            ::explicit_bzero(value, std::strlen(value));
            ::unsetenv(variable);
        }
}

std::unique_ptr<Model> make_model(const Spec& spec, const Connection& connection) {
    Spec plain = spec;
    plain.role.clear();  // a model's name does not depend on who asks it
    const std::string& provider = plain.provider;
    if (provider == "exec") return make_exec(plain, connection);
    if (provider == "compatible" && connection.base_url.empty())
        throw UsageError(fmt::format("'{}': where that server is was not said", spec.text()),
                         "name its address, such as http://localhost:8080/v1");
    std::string key = find_key(provider, connection.key_file);
    if (provider == "openai") return make_openai_responses(plain, connection, key);
    if (provider == "openai-chat" || provider == "compatible") return make_openai_chat(plain, connection, key);
    if (provider == "anthropic") return make_anthropic(plain, connection, key);
    if (provider == "gemini") return make_gemini(plain, connection, key);
    throw UsageError(fmt::format("'{}': no provider is called '{}'", spec.text(), provider), forms);
}

}  // namespace strop::llm
