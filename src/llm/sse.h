// Server-sent events (WHATWG HTML, section 9.2), cut out of bytes that arrive in any pieces.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace strop::llm {

struct SseEvent {
    std::string name;  // empty: the stream named none
    std::string data;  // its lines, joined by line feeds
};

class SseParser {
public:
    explicit SseParser(std::function<void(const SseEvent&)> on_event) : on_event_(std::move(on_event)) {}

    void push(std::string_view bytes);
    // The stream has ended: an event whose last empty line is missing is given out too, since servers forget it.
    void finish();

private:
    void take_line(std::string_view line);
    void give();

    std::function<void(const SseEvent&)> on_event_;
    std::string line_;
    SseEvent event_;
    bool has_data_ = false;
    bool after_return_ = false;  // a line feed that follows belongs to the same line end
    bool first_line_ = true;
};

}  // namespace strop::llm
