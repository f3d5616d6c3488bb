// JSON-RPC 2.0 as the Model Context Protocol uses it.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "mcp/service.h"

namespace strop::mcp {

enum ErrorCode {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    internal_error = -32603,
    resource_not_found = -32002,
    header_mismatch = -32020,
    unsupported_version = -32022,
};

// Ends a request with an error object.
struct ProtocolError : std::runtime_error {
    ProtocolError(int error_code, const std::string& message, Json details = nullptr)
        : std::runtime_error(message),
          code(error_code),
          data(std::move(details)) {}
    int code;
    Json data;
};

struct Message {
    Json id;             // null: a notification
    std::string method;  // empty: an answer to a request of ours
    Json params = Json::object();
    bool notification() const { return id.is_null(); }
};

// A ProtocolError where the line is none; `id` holds the message's own then, as far as it could be read.
Message read_message(const std::string& line, Json& id);

std::string result_line(const Json& id, const Json& result);
std::string error_line(const Json& id, const ProtocolError& error);
std::string notification_line(const std::string& method, const Json& params);

}  // namespace strop::mcp
