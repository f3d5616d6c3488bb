#include "llm/tolerant_json.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "llm/text.h"

namespace strop::llm {

namespace {

using nlohmann::json;

constexpr int most_depth = 128;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void append_utf8(std::string& text, uint32_t code) {
    auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | (code >> 6));
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | (code >> 12));
        put(0x80 | ((code >> 6) & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | (code >> 18));
        put(0x80 | ((code >> 12) & 0x3f));
        put(0x80 | ((code >> 6) & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

// A character that was cut in the middle at the end of a text.
void drop_partial_character(std::string& text) {
    size_t at = text.size();
    while (at > 0 && text.size() - at < 3 && (static_cast<unsigned char>(text[at - 1]) & 0xc0) == 0x80) --at;
    if (at == 0) return;
    auto lead = static_cast<unsigned char>(text[at - 1]);
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (text.size() - (at - 1) < length) text.resize(at - 1);
}

bool is_surrogate(uint32_t code, uint32_t first) { return code >= first && code < first + 0x400; }

}  // namespace

TolerantReader::Found TolerantReader::read(size_t start) {
    Found found;
    at_ = start;
    too_deep_ = 0;
    has_member_ = false;
    State state = read_value(found.value, 0);
    found.has_member = has_member_;
    found.end = at_;
    if (state == State::complete) found.state = Found::State::complete;
    if (state == State::cut) found.state = Found::State::cut;
    if (state == State::invalid) found.end = too_deep_ > 0 ? too_deep_ : start + 1;
    return found;
}

// A closing fence ends a text as well; and the end may be half of one, or half of what begins a comment.
bool TolerantReader::at_end() const {
    std::string_view rest = text_.substr(at_);
    return rest.empty() || rest.starts_with("```") || rest == "`" || rest == "``" || rest == "/";
}

// False when there is none.
bool TolerantReader::skip_comment() {
    std::string_view rest = text_.substr(at_);
    if (!rest.starts_with("//") && !rest.starts_with("/*")) return false;
    bool line = rest[1] == '/';
    size_t end = rest.find(line ? "\n" : "*/", 2);
    size_t length = end == std::string_view::npos ? rest.size() : end + (line ? 1 : 2);
    at_ += length;
    work_ -= static_cast<int64_t>(length);
    return true;
}

// To the next token; false at the end of the text.
bool TolerantReader::skip_blank() {
    while (at_ < text_.size() && work_ > 0) {
        if (is_blank(text_[at_])) {
            ++at_;
            --work_;
        } else if (!skip_comment()) {
            return !at_end();
        }
    }
    return false;
}

TolerantReader::State TolerantReader::read_value(json& value, int depth) {
    if (work_-- <= 0) return State::invalid;
    if (depth > most_depth) {
        too_deep_ = at_;
        return State::invalid;
    }
    char c = text_[at_];
    if (c == '{') return read_object(value, depth);
    if (c == '[') return read_array(value, depth);
    if (c != '"') return c == '-' || (c >= '0' && c <= '9') ? read_number(value) : read_word(value);
    std::string text;
    State state = read_string(text);
    if (state != State::invalid) value = std::move(text);
    return state;
}

TolerantReader::State TolerantReader::read_object(json& value, int depth) {
    value = json::object();
    ++at_;
    while (skip_blank()) {
        if (text_[at_] == '}') {
            ++at_;
            return State::complete;
        }
        std::string key;
        State state = text_[at_] == '"' ? read_string(key) : State::invalid;
        if (state != State::complete) return state;
        if (!skip_blank()) return State::cut;
        if (text_[at_++] != ':') return State::invalid;
        has_member_ = true;
        if (!skip_blank()) return State::cut;
        json member(json::value_t::discarded);
        state = read_value(member, depth + 1);
        if (state == State::invalid) return state;
        if (!member.is_discarded()) value[key] = std::move(member);
        if (state == State::cut || !skip_blank()) return State::cut;
        if (text_[at_] == ',') {
            ++at_;
        } else if (text_[at_] != '}') {
            return State::invalid;
        }
    }
    return State::cut;
}

TolerantReader::State TolerantReader::read_array(json& value, int depth) {
    value = json::array();
    ++at_;
    while (skip_blank()) {
        if (text_[at_] == ']') {
            ++at_;
            return State::complete;
        }
        json element(json::value_t::discarded);
        State state = read_value(element, depth + 1);
        if (state == State::invalid) return state;
        if (!element.is_discarded()) value.push_back(std::move(element));
        if (state == State::cut || !skip_blank()) return State::cut;
        if (text_[at_] == ',') {
            ++at_;
        } else if (text_[at_] != ']') {
            return State::invalid;
        }
    }
    return State::cut;
}

// Raw control characters are taken as they are: models write code into strings without escaping its lines.
TolerantReader::State TolerantReader::read_string(std::string& value) {
    ++at_;
    State state = State::cut;
    while (at_ < text_.size() && work_-- > 0) {
        char c = text_[at_];
        if (c == '\\') {
            if (read_escape(value) == State::cut) break;
            continue;
        }
        ++at_;
        if (c == '"') {
            state = State::complete;
            break;
        }
        value += c;
    }
    if (work_ <= 0) return State::invalid;
    if (state == State::cut) drop_partial_character(value);
    value = valid_utf8(value);
    return state;
}

TolerantReader::State TolerantReader::read_escape(std::string& value) {
    constexpr std::string_view letters = "nrtbf\"\\/'", meanings = "\n\r\t\b\f\"\\/'";
    if (at_ + 1 >= text_.size()) {
        at_ = text_.size();
        return State::cut;
    }
    char c = text_[at_ + 1];
    if (c == 'u') return read_unicode(value);
    size_t known = letters.find(c);
    if (known == std::string_view::npos) {  // "\d" of a pattern that was not escaped for JSON: kept as it stands
        value += '\\';
        ++at_;
        return State::complete;
    }
    value += meanings[known];
    at_ += 2;
    return State::complete;
}

bool TolerantReader::read_four_digits(size_t at, uint32_t& code) const {
    code = 0;
    if (at + 4 > text_.size()) return false;
    for (char c : text_.substr(at, 4)) {
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return false;
        code = code * 16 + static_cast<uint32_t>(digit);
    }
    return true;
}

TolerantReader::State TolerantReader::read_unicode(std::string& value) {
    constexpr uint32_t high = 0xd800, low = 0xdc00, replacement = 0xfffd;
    constexpr size_t length = 6;  // of \uXXXX
    uint32_t code = 0, second = 0;
    if (!read_four_digits(at_ + 2, code)) {
        bool cut = at_ + length > text_.size();
        at_ = cut ? text_.size() : at_ + 2;
        if (!cut) append_utf8(value, replacement);
        return cut ? State::cut : State::complete;
    }
    size_t next = at_ + length;
    if (!is_surrogate(code, high)) {
        append_utf8(value, is_surrogate(code, low) ? replacement : code);
        at_ = next;
        return State::complete;
    }
    std::string_view rest = text_.substr(next);
    if (rest.size() < length && std::string_view("\\u").starts_with(rest.substr(0, 2))) {
        at_ = text_.size();
        return State::cut;
    }
    bool pair = rest.starts_with("\\u") && read_four_digits(next + 2, second) && is_surrogate(second, low);
    append_utf8(value, pair ? 0x10000 + ((code - high) << 10) + (second - low) : replacement);
    at_ = pair ? next + length : next;
    return State::complete;
}

// One that ends where the text ends may have lost digits: it is left out.
TolerantReader::State TolerantReader::read_number(json& value) {
    size_t start = at_;
    at_ = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    work_ -= static_cast<int64_t>(at_ - start);
    if (at_ == text_.size()) return State::cut;
    std::string token(text_.substr(start, at_ - start));
    json number = json::parse(token, nullptr, false);
    if (number.is_discarded() && !std::isinf(std::strtod(token.c_str(), nullptr))) return State::invalid;
    value = number.is_discarded() ? json(nullptr) : std::move(number);  // JSON has no infinity
    return State::complete;
}

TolerantReader::State TolerantReader::read_word(json& value) {
    std::string_view rest = text_.substr(at_);
    for (const auto& [word, meaning] :
         {std::pair<std::string_view, json>{"true", true}, {"false", false}, {"null", nullptr}}) {
        if (rest.starts_with(word)) {
            value = meaning;
            at_ += word.size();
            return State::complete;
        }
        if (word.starts_with(rest)) {
            at_ = text_.size();
            return State::cut;
        }
    }
    return State::invalid;
}

}  // namespace strop::llm
