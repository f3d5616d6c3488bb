#include "yaml/yaml_json.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strop {

namespace {

constexpr int deepest = 64;

// The number that all of the text is.
template <typename Number>
std::optional<Number> number_in(std::string_view text, auto how) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, how);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

// "0640" and "0o640" are octal.
std::optional<int64_t> integer_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return {};
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0o")) {
        base = text[1] == 'x' ? 16 : 8;
        text.remove_prefix(2);
    } else if (text.size() > 1 && text[0] == '0') base = 8;
    const std::optional<int64_t> value = number_in<int64_t>(text, base);
    return value && negative ? -*value : value;
}

bool is_one_of(std::string_view text, const std::array<std::string_view, 3>& words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        std::string capital(word), all(word);
        capital[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
        for (char& c : all) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        return text == word || text == capital || text == all;
    });
}

Json scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() != "?") return text;  // quoted
    if (is_one_of(text, {"true", "yes", "on"})) return true;
    if (is_one_of(text, {"false", "no", "off"})) return false;
    if (const auto value = integer_of(text)) return *value;
    const bool may_be_number = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
    if (const auto value = number_in<double>(text, std::chars_format::general); value && may_be_number) return *value;
    return text;
}

Json value_of(const YamlFile& file, const YAML::Node& node, const std::string& what, int depth) {
    if (depth > deepest) file.fail(node, "'" + what + "' is nested too deep", "does an alias (*) hold itself?");
    if (node.IsScalar()) return scalar(node);
    if (node.IsSequence()) {
        Json list = Json::array();
        for (const YAML::Node& item : node) list.push_back(value_of(file, item, what, depth + 1));
        return list;
    }
    if (!node.IsMap()) return nullptr;
    Json map = Json::object();
    for (const YamlEntry& entry : file.map(node, what))
        map[entry.key] = value_of(file, entry.value, entry.key, depth + 1);
    return map;
}

}  // namespace

Json json_of(const YamlFile& file) {
    Json map = Json::object();
    for (const YamlEntry& entry : file.entries()) map[entry.key] = value_of(file, entry.value, entry.key, 1);
    return map;
}

}  // namespace strop
