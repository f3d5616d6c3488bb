#include "exchange/document.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"

namespace strop::exchange {

namespace {

using Visit = std::function<bool(int, const std::string&)>;

// Reads without building anything: keys, and where the text is malformed.
class Scan : public nlohmann::json_sax<Json> {
public:
    explicit Scan(const Visit& visit) : visit_(visit) {}

    bool is_object = false;
    size_t position = 0;  // of the error, counted from 1; 0: none
    std::string reason;

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(size_t) override {
        is_object = is_object || depth_ == 0;
        return start_nested();
    }
    bool end_object() override { return end_nested(); }
    bool start_array(size_t) override { return start_nested(); }
    bool end_array() override { return end_nested(); }
    bool key(string_t& name) override { return !visit_ || visit_(depth_, name); }
    bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception& error) override {
        position = at;
        reason = reason_of(error.what());
        return false;
    }

private:
    bool start_nested() {
        ++depth_;
        return true;
    }
    bool end_nested() {
        --depth_;
        return true;
    }

    // Of "[json…] parse error at line 1, column 2: syntax error while parsing value - REASON; expected …".
    static std::string reason_of(std::string_view message) {
        for (std::string_view before : {"] ", " - "})
            if (size_t at = message.find(before); at != std::string_view::npos)
                message.remove_prefix(at + before.size());
        return std::string(message.substr(0, std::min<size_t>(message.find(';'), 80)));
    }

    const Visit& visit_;
    int depth_ = 0;
};

constexpr std::array<std::string_view, 3> not_finite = {"NaN", "Infinity", "-Infinity"};

size_t length_of_non_finite(std::string_view text) {
    for (std::string_view word : not_finite)
        if (text.starts_with(word)) return word.size();
    return 0;
}

// JSON has no NaN and no Infinity, which Python writes. Lines stay where they are.
std::string with_null_for_non_finite(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted && text[i] == '\\' && i + 1 < text.size()) result += text[i++];
        size_t length = quoted ? 0 : length_of_non_finite(text.substr(i));
        result += length > 0 ? "null" : text.substr(i, 1);
        i += std::max<size_t>(length, 1) - 1;
    }
    return result;
}

// The text itself, or a copy that is kept in `copy`.
std::string_view standard(const std::string& text, std::string& copy) {
    if (text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos) return text;
    return copy = with_null_for_non_finite(text);
}

// The end of a text lies on its last line that says something.
size_t line_of(const std::string& text, size_t position) {
    size_t end = std::min(position - 1, text.size());
    if (end == text.size()) end = text.find_last_not_of(" \t\r\n") + 1;
    return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

[[noreturn]] void fail_at(const Scan& scan, const std::string& text, const std::string& file) {
    throw UsageError(fmt::format("{}: line {}: malformed JSON: {}", file,
                                 line_of(text, std::max<size_t>(scan.position, 1)), scan.reason),
                     "check brackets, commas and quotes there, and whether the file is complete");
}

std::optional<int64_t> whole(const Json& json) {
    std::optional<Value> value = json.is_number() ? value_of(json) : std::nullopt;
    if (!value) return std::nullopt;
    if (const auto* integer = std::get_if<int64_t>(&*value)) return *integer;
    double number = std::get<double>(*value);
    bool exact = number == std::floor(number) && std::fabs(number) < 9e15;
    return exact ? std::optional(static_cast<int64_t>(number)) : std::nullopt;
}

}  // namespace

Json try_parse(const std::string& text, const Json::parser_callback_t& callback) {
    std::string copy;
    return Json::parse(standard(text, copy), callback, false);
}

Json parse(const std::string& text, const std::string& file) {
    Json json = try_parse(text, nullptr);
    if (json.is_discarded()) fail_syntax(text, file);
    return json;
}

void fail_syntax(const std::string& text, const std::string& file) {
    std::string copy;
    Visit none;
    Scan scan(none);
    Json::sax_parse(standard(text, copy), &scan);
    fail_at(scan, text, file);
}

void visit_keys(const std::string& text, const std::string& file, const Visit& visit) {
    std::string copy;
    Scan scan(visit);
    Json::sax_parse(standard(text, copy), &scan);
    if (scan.position > 0) fail_at(scan, text, file);
    if (!scan.is_object) throw UsageError(fmt::format("{}: expected an object of keys", file));
}

std::string dump(const OrderedJson& json) { return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace); }

std::optional<Value> value_of(const Json& json) {
    constexpr uint64_t largest = std::numeric_limits<int64_t>::max();
    if (json.is_boolean()) return int64_t{json.get<bool>()};
    if (json.is_number_unsigned() && json.get<uint64_t>() > largest) return json.get<double>();
    if (json.is_number_integer()) return json.get<int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    return std::nullopt;
}

Object::Object(const Json& json, const std::string& file, std::string path)
    : json_(&json),
      file_(&file),
      path_(std::move(path)) {
    if (!json.is_object()) fail("", "expected an object of keys");
}

void Object::fail(const std::string& key, const std::string& phrase) const {
    std::string whole_path = path_.empty() || key.empty() ? path_ + key : path_ + "." + key;
    throw UsageError(whole_path.empty() ? fmt::format("{}: {}", *file_, phrase)
                                        : fmt::format("{}: key '{}': {}", *file_, whole_path, phrase));
}

const Json* Object::find(const std::string& key) const {
    auto found = json_->find(key);
    return found == json_->end() || found->is_null() ? nullptr : &*found;
}

const Json& Object::get(const std::string& key) const {
    const Json* found = find(key);
    if (!found) fail(key, "missing");
    return *found;
}

const Json& Object::list(const std::string& key, const std::string& what) const {
    const Json& found = get(key);
    if (!found.is_array()) fail(key, "expected a " + what);
    return found;
}

Object Object::object(const std::string& key) const {
    return Object(get(key), *file_, path_.empty() ? key : path_ + "." + key);
}

std::vector<Object> Object::objects(const std::string& key) const {
    std::vector<Object> result;
    std::string path = path_.empty() ? key : path_ + "." + key;
    for (const Json& element : list(key, "list of objects"))
        result.emplace_back(element, *file_, fmt::format("{}[{}]", path, result.size()));
    return result;
}

std::string Object::text(const std::string& key) const {
    const Json& found = get(key);
    if (!found.is_string()) fail(key, "expected a text");
    return found.get<std::string>();
}

std::string Object::text(const std::string& key, const std::string& fallback) const {
    return find(key) ? text(key) : fallback;
}

double Object::number(const std::string& key) const {
    const Json& found = get(key);
    if (!found.is_number()) fail(key, "expected a number");
    return found.get<double>();
}

Value Object::value(const std::string& key) const {
    std::optional<Value> value = value_of(get(key));
    if (!value) fail(key, "expected a number or a text");
    return *value;
}

std::vector<double> Object::numbers(const std::string& key) const {
    std::vector<double> result;
    if (!find(key)) return result;
    const Json& elements = list(key, "list of numbers");
    result.reserve(elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].is_null()) continue;
        if (!elements[i].is_number()) fail(fmt::format("{}[{}]", key, i), "expected a number");
        result.push_back(elements[i].get<double>());
    }
    return result;
}

std::vector<int64_t> Object::sizes(const std::string& key) const {
    const Json* found = find(key);
    if (!found || found->is_string()) return {};
    bool is_list = found->is_array();
    std::vector<int64_t> result;
    for (size_t i = 0; i < (is_list ? found->size() : 1); ++i) {
        const Json& element = is_list ? (*found)[i] : *found;
        if (element.is_string()) return {};
        std::optional<int64_t> size = whole(element);
        if (!size) fail(key, "expected whole numbers");
        result.push_back(*size);
    }
    return result;
}

}  // namespace strop::exchange
