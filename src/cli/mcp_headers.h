// What the headers of a message of the Model Context Protocol over HTTP have to be.
#pragma once

#include "mcp/message.h"
#include "serve/message.h"

namespace strop::cli {

// Whether its header says 2026-07-28.
bool mcp_modern(const serve::Request& request);
bool mcp_sends_json(const serve::Request& request);
bool mcp_accepts_answers(const serve::Request& request);  // both as a document and as a stream

// A ProtocolError where they name an unknown version, or not what the message itself says.
void mcp_check_headers(const serve::Request& request, const mcp::Message& message);

}  // namespace strop::cli
