#include "cli/mcp_exchange.h"

namespace strop::cli {

McpExchange::McpExchange(const mcp::Service& service, mcp::Json id, bool initialized)
    : id_(std::move(id)),
      server_(service, [this](const std::string& line) { hear(line); }, initialized) {}

void McpExchange::hear(const std::string& line) {
    const bool answer = mcp::Json::parse(line).contains("id");
    std::lock_guard lock(mutex_);
    if (over_) return;
    lines_.push_back(line);
    over_ = answer;
    heard_.notify_all();
}

void McpExchange::cancel() {
    server_.cancel_all();
    std::lock_guard lock(mutex_);
    lines_.clear();
    over_ = true;
    heard_.notify_all();
}

std::optional<std::string> McpExchange::next(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    heard_.wait_for(lock, patience, [this] { return over_ || !lines_.empty(); });
    if (lines_.empty()) return over_ ? std::nullopt : std::optional<std::string>("");
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
}

}  // namespace strop::cli
