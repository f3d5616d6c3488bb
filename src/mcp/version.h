// The protocol's versions: those where a connection begins with `initialize`, and the one where each request says its
// own.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "mcp/message.h"

namespace strop::mcp {

inline constexpr const char* modern_version = "2026-07-28";
inline constexpr std::array<const char*, 4> legacy_versions = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
inline constexpr const char* version_key = "io.modelcontextprotocol/protocolVersion";  // in params._meta

inline bool is_legacy(const std::string& version) {
    return std::find(legacy_versions.begin(), legacy_versions.end(), version) != legacy_versions.end();
}

// All, the newest first.
inline Json versions() {
    Json list = {modern_version};
    for (const char* version : legacy_versions) list.push_back(version);
    return list;
}

inline ProtocolError unknown_version(const Json& requested) {
    return {unsupported_version,
            "this version of the protocol is not supported",
            {{"supported", versions()}, {"requested", requested}}};
}

}  // namespace strop::mcp
