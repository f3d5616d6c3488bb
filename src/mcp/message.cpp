#include "mcp/message.h"

namespace strop::mcp {

namespace {

constexpr size_t longest_message = 16 << 20;  // bytes
constexpr int deepest_nesting = 64;

// Hostile text may not be UTF-8; what leaves us always is.
std::string dump(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json parse(const std::string& line) {
    if (line.size() > longest_message) throw ProtocolError(invalid_request, "the message is longer than 16 MiB");
    auto shallow = [](int depth, Json::parse_event_t, Json&) {
        if (depth > deepest_nesting) throw ProtocolError(parse_error, "the message is nested too deeply");
        return true;
    };
    Json document = Json::parse(line, shallow, false);
    if (document.is_discarded()) throw ProtocolError(parse_error, "the message is not JSON");
    return document;
}

}  // namespace

Message read_message(const std::string& line, Json& id) {
    Json document = parse(line);
    if (!document.is_object()) throw ProtocolError(invalid_request, "a message is one object");
    if (document.contains("id") && (document["id"].is_string() || document["id"].is_number_integer()))
        id = document["id"];
    else if (document.contains("id")) throw ProtocolError(invalid_request, "an id is a text or a whole number");
    if (document.value("jsonrpc", Json()) != "2.0") throw ProtocolError(invalid_request, "'jsonrpc' is not \"2.0\"");
    Message message;
    message.id = id;
    if (!document.contains("method")) {
        if (document.contains("result") || document.contains("error")) return message;
        throw ProtocolError(invalid_request, "the message has no method");
    }
    if (!document["method"].is_string()) throw ProtocolError(invalid_request, "'method' is not a text");
    message.method = document["method"];
    if (document.contains("params")) message.params = document["params"];
    if (!message.params.is_object()) throw ProtocolError(invalid_params, "'params' is not an object");
    return message;
}

std::string result_line(const Json& id, const Json& result) {
    return dump({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string error_line(const Json& id, const ProtocolError& error) {
    Json object = {{"code", error.code}, {"message", error.what()}};
    if (!error.data.is_null()) object["data"] = error.data;
    return dump({{"jsonrpc", "2.0"}, {"id", id}, {"error", object}});
}

std::string notification_line(const std::string& method, const Json& params) {
    return dump({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

}  // namespace strop::mcp
