// JSON of other programs, read so that every message names the file and the line or key.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace strop::exchange {

// Python's NaN and Infinity are read as null.
Json parse(const std::string& text, const std::string& file);
// A discarded value when the text is malformed.
Json try_parse(const std::string& text, const Json::parser_callback_t& callback);
// UsageError "FILE: line 7: malformed JSON: …".
[[noreturn]] void fail_syntax(const std::string& text, const std::string& file);

// Calls `visit(depth, key)` for every key in the order of the file until it returns false; the rest of the
// text is not read. The keys of the outermost object have depth 1, those of objects in a list there 3.
void visit_keys(const std::string& text, const std::string& file,
                const std::function<bool(int, const std::string&)>& visit);

// To write with: members keep the order in which they were added. Not to read with: it copies them as it
// grows.
using OrderedJson = nlohmann::ordered_json;
// In one line; bytes that are not UTF-8 become U+FFFD.
std::string dump(const OrderedJson& json);

// Booleans are 0 or 1; nothing for null, lists and objects.
std::optional<Value> value_of(const Json& json);

// An object of a file and its place there. What is not as it should be is a UsageError "FILE: key 'a.b[3].c':
// …".
class Object {
public:
    Object(const Json& json, const std::string& file, std::string path = {});

    const Json& json() const { return *json_; }
    const Json* find(const std::string& key) const;  // a null pointer where it is absent or null

    // These must be there.
    const Json& get(const std::string& key) const;
    const Json& list(const std::string& key, const std::string& what) const;  // "list of values"
    Object object(const std::string& key) const;
    std::vector<Object> objects(const std::string& key) const;
    std::string text(const std::string& key) const;
    double number(const std::string& key) const;
    Value value(const std::string& key) const;

    // These may be absent.
    std::string text(const std::string& key, const std::string& fallback) const;
    std::vector<double> numbers(const std::string& key) const;
    std::vector<int64_t> sizes(const std::string& key) const;  // also of one number; none of a text

    [[noreturn]] void fail(const std::string& key, const std::string& phrase) const;

private:
    const Json* json_;
    const std::string* file_;
    std::string path_;
};

}  // namespace strop::exchange
