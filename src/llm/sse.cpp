#include "llm/sse.h"

#include "base/strings.h"

namespace strop::llm {

void SseParser::push(std::string_view bytes) {
    while (!bytes.empty()) {
        if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
        after_return_ = false;
        size_t end = bytes.find_first_of("\r\n");
        line_.append(bytes.substr(0, end));
        if (end == std::string_view::npos) return;
        after_return_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        std::string line = std::move(line_);
        line_.clear();
        take_line(line);
    }
}

void SseParser::finish() {
    if (!line_.empty()) {
        std::string line = std::move(line_);
        line_.clear();
        take_line(line);
    }
    give();
}

void SseParser::take_line(std::string_view line) {
    if (first_line_) line = without_byte_order_mark(line);
    first_line_ = false;
    if (line.empty()) return give();
    size_t colon = line.find(':');
    std::string_view field = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") {
        event_.name = value;
    } else if (field == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    }
}

void SseParser::give() {
    SseEvent event = std::move(event_);
    bool whole = has_data_;
    event_ = {};
    has_data_ = false;
    if (whole) on_event_(event);
}

}  // namespace strop::llm
