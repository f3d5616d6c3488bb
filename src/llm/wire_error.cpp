#include "llm/wire_error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace strop::llm {

namespace {

using Json = nlohmann::json;

constexpr size_t longest_line = 300;
constexpr size_t shortest_key = 4;  // "x", for a server that wants any key, is no secret

std::string text_at(const Json& object, const char* key) {
    auto found = object.is_object() ? object.find(key) : object.end();
    if (!object.is_object() || found == object.end()) return {};
    if (found->is_string()) return found->get<std::string>();
    return found->is_number_integer() ? std::to_string(found->get<int64_t>()) : std::string();
}

// The statuses that errors inside a stream would have had.
constexpr std::array<std::pair<std::string_view, int>, 24> statuses = {{
    {"invalid_request_error", 400},
    {"invalid_prompt", 400},
    {"context_length_exceeded", 400},
    {"INVALID_ARGUMENT", 400},
    {"FAILED_PRECONDITION", 400},
    {"authentication_error", 401},
    {"UNAUTHENTICATED", 401},
    {"billing_error", 402},
    {"insufficient_quota", 429},
    {"permission_error", 403},
    {"PERMISSION_DENIED", 403},
    {"not_found_error", 404},
    {"NOT_FOUND", 404},
    {"request_too_large", 413},
    {"rate_limit_error", 429},
    {"rate_limit_exceeded", 429},
    {"slow_down", 429},
    {"RESOURCE_EXHAUSTED", 429},
    {"timeout_error", 504},
    {"DEADLINE_EXCEEDED", 504},
    {"overloaded_error", 529},
    {"server_is_overloaded", 503},
    {"UNAVAILABLE", 503},
    {"credit_balance_exhausted", 429},
}};

int status_of(const std::string& code) {
    for (const auto& [name, status] : statuses)
        if (code == name) return status;
    int number = 0;
    auto [end, problem] = std::from_chars(code.data(), code.data() + code.size(), number);
    bool whole = problem == std::errc() && end == code.data() + code.size();
    return whole && number >= 400 && number < 600 ? number : 500;
}

// Google's: [{"@type": "...RetryInfo", "retryDelay": "34s"}, {"reason": "API_KEY_INVALID"}]
void read_details(const Json& details, WireError& error) {
    if (details.is_object()) {
        std::string code = text_at(details, "error_code");
        if (!code.empty()) error.code = code;
    }
    if (!details.is_array()) return;
    for (const Json& detail : details) {
        std::string delay = text_at(detail, "retryDelay"), reason = text_at(detail, "reason");
        double seconds = 0;
        const char* last = delay.data() + delay.size();
        auto [end, problem] = std::from_chars(delay.data(), last, seconds);
        if (problem == std::errc() && end != last && *end == 's') error.retry_delay = seconds;
        if (reason == "API_KEY_INVALID") error.code = reason;
    }
}

// FastAPI's: [{"loc": ["body", "stream_options"], "msg": "extra fields not permitted"}]
void read_validation(const Json& entries, WireError& error) {
    if (!entries.is_array() || entries.empty() || !entries[0].is_object()) return;
    error.message = text_at(entries[0], "msg");
    std::vector<std::string> path;
    for (const Json& part : entries[0].value("loc", Json::array()))
        if (part.is_string() && part != "body") path.push_back(part.get<std::string>());
    error.param = join(path, ".");
}

void read_object(const Json& value, WireError& error) {
    error.message = text_at(value, "message");
    error.param = text_at(value, "param");
    // From the general to the exact; "type" of a stream's event is only "error".
    for (const char* key : {"type", "status", "code"}) {
        std::string text = text_at(value, key);
        bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        if (!text.empty() && text != "error" && !(number && !error.code.empty())) error.code = text;
    }
    if (value.contains("details")) read_details(value["details"], error);
}

std::string title_of(const std::string& page) {
    std::string small = lower(page);
    size_t begin = small.find("<title>"), end = small.find("</title>");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return "a page of HTML";
    return "a page of HTML: " + page.substr(begin + 7, end - begin - 7);
}

void read_json(const Json& root, WireError& error) {
    const Json& value = root.is_array() && !root.empty() ? root[0] : root;
    if (!value.is_object()) return;
    auto inner = value.find("error");
    if (inner != value.end() && inner->is_object()) return read_object(*inner, error);
    read_object(value, error);
    if (inner != value.end() && inner->is_string()) error.message = inner->get<std::string>();
    if (!error.message.empty() || !value.contains("detail")) return;
    read_validation(value["detail"], error);
    if (value["detail"].is_string()) error.message = value["detail"].get<std::string>();
}

// The length of the character that begins here; 0: no valid UTF-8.
size_t character_length(std::string_view text) {
    auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first >= 0xF5) return 0;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    bool beyond = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
    return overlong || beyond ? 0 : length;
}

bool is_filter(const std::string& code) {
    return code == "content_filter" || code == "content_policy_violation" || code == "invalid_prompt";
}

}  // namespace

WireError parse_error(int status, const std::string& body) {
    WireError error;
    error.status = status;
    Json root = Json::parse(body, nullptr, false);
    if (!root.is_discarded()) read_json(root, error);
    if (error.message.empty()) {
        std::string_view text = trim(body);
        error.message = text.starts_with('<') ? title_of(body) : std::string(text);
    }
    return error;
}

WireError parse_stream_error(const Json& value) {
    WireError error;
    read_json(value, error);
    error.status = status_of(error.code);
    // A server of another make: {"error": {"type": "BadRequestError", "code": 400}}
    const Json& inner = value.is_object() && value.contains("error") ? value["error"] : value;
    std::string number = text_at(inner, "code");
    if (error.status == 500 && !number.empty()) error.status = status_of(number);
    return error;
}

bool is_final(const WireError& error) {
    const std::string& code = error.code;
    return error.status == 402 || code == "insufficient_quota" || code == "credit_balance_exhausted" ||
           code == "enforced_spend_limit_reached";
}

Failure failure_of(const WireError& error) {
    if (is_final(error) || error.code == "API_KEY_INVALID") return Failure::denied;
    if (is_filter(error.code)) return Failure::refused;
    switch (error.status) {
        case 401:
        case 403: return Failure::denied;
        case 408: return Failure::timed_out;
        case 429: return Failure::rate_limited;
        default: break;
    }
    if (error.status >= 500) return Failure::overloaded;
    return error.status >= 400 ? Failure::rejected : Failure::malformed;
}

std::string redact(std::string text, const std::string& key) {
    return key.size() < shortest_key ? text : replace_all(std::move(text), key, "[key]");
}

std::string one_line(const std::string& text, const std::string& key) {
    std::string line;
    std::string clean = redact(text, key);
    size_t characters = 0;
    for (std::string_view rest = clean; !rest.empty();) {
        size_t length = character_length(rest);
        auto byte = static_cast<unsigned char>(rest[0]);
        bool space = length == 1 && (byte <= ' ' || byte == 0x7F);
        std::string_view shown = length == 0 ? "?" : space ? " " : rest.substr(0, length);
        rest.remove_prefix(std::max<size_t>(length, 1));
        if (space && (line.empty() || line.back() == ' ')) continue;
        if (++characters > longest_line) break;
        line += shown;
    }
    // A key that was broken by what is gone now.
    return redact(std::string(trim(line)), key);
}

}  // namespace strop::llm
