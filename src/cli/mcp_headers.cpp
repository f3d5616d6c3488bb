#include "cli/mcp_headers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/strings.h"
#include "mcp/version.h"

namespace strop::cli {

namespace {

using mcp::Json;
using mcp::ProtocolError;
using serve::Request;

constexpr const char* version_header = "mcp-protocol-version";

// Without parameters: "text/html" of "text/html; q=0.9".
std::string media_type(const std::string& text) { return lower(trim(text.substr(0, text.find(';')))); }

bool accepts(const Request& request, const std::string& type) {
    const std::vector<std::string> ranges = split(request.header("accept"), ',');
    return std::any_of(ranges.begin(), ranges.end(), [&](const std::string& range) {
        const std::string name = media_type(range);
        return name == type || name == "*/*" || name == type.substr(0, type.find('/')) + "/*";
    });
}

// Names that are not plain ASCII come as "=?base64?...?=".
std::string decoded(const std::string& value) {
    constexpr std::string_view begin = "=?base64?", end = "?=";
    if (value.size() < begin.size() + end.size() || !value.starts_with(begin) || !value.ends_with(end)) return value;
    return from_base64(std::string_view(value).substr(begin.size(), value.size() - begin.size() - end.size()))
        .value_or(value);
}

Json version_of(const mcp::Message& message) {
    const Json meta = message.params.value("_meta", Json());
    return meta.is_object() ? meta.value(mcp::version_key, Json()) : Json();
}

// What Mcp-Name repeats; null where there is nothing.
Json name_of(const mcp::Message& message) {
    const std::string& method = message.method;
    if (method == "tools/call" || method == "prompts/get") return message.params.value("name", Json());
    if (method == "resources/read") return message.params.value("uri", Json());
    return nullptr;
}

void compare(const char* header, const std::string& value, const Json& said) {
    if (said != Json(value))
        throw ProtocolError(mcp::header_mismatch,
                            fmt::format("the header {} does not say what the message says", header));
}

}  // namespace

bool mcp_modern(const Request& request) { return request.header(version_header) == mcp::modern_version; }

bool mcp_sends_json(const Request& request) { return media_type(request.header("content-type")) == "application/json"; }

bool mcp_accepts_answers(const Request& request) {
    return accepts(request, "application/json") && accepts(request, "text/event-stream");
}

void mcp_check_headers(const Request& request, const mcp::Message& message) {
    const std::string version = request.header(version_header);
    if (!version.empty() && !mcp_modern(request) && !mcp::is_legacy(version)) throw mcp::unknown_version(version);
    if (message.notification()) return;
    const Json said = version_of(message);
    if (!mcp_modern(request) && said != mcp::modern_version) return;
    if (said.is_null()) return;  // an error that the server knows words for
    compare("MCP-Protocol-Version", version, said);
    compare("Mcp-Method", request.header("mcp-method"), message.method);
    if (const Json name = name_of(message); name.is_string())
        compare("Mcp-Name", decoded(request.header("mcp-name")), name);
}

}  // namespace strop::cli
