#include "study/quotation.h"

#include <array>
#include <cctype>
#include <regex>
#include <vector>

#include "base/strings.h"

namespace strop::study {

namespace {

struct Folded {
    std::string text;
    std::vector<size_t> places;  // of each byte, in the text that was folded
};

// How pages set what people type.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> typeset = {{{"\xef\xac\x80", "ff"},
                                                                                    {"\xef\xac\x81", "fi"},
                                                                                    {"\xef\xac\x82", "fl"},
                                                                                    {"\xef\xac\x83", "ffi"},
                                                                                    {"\xef\xac\x84", "ffl"},
                                                                                    {"\xe2\x80\x98", "'"},
                                                                                    {"\xe2\x80\x99", "'"},
                                                                                    {"\xe2\x80\x9c", "\""},
                                                                                    {"\xe2\x80\x9d", "\""},
                                                                                    {"\xe2\x80\x93", "-"},
                                                                                    {"\xe2\x80\x94", "-"},
                                                                                    {"\xc2\xa0", ""},    // a blank
                                                                                    {"\xc2\xad", ""}}};  // soft hyphen

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

Folded without_space(const std::string& text) {
    Folded folded;
    auto add = [&](std::string_view bytes, size_t place) {
        folded.text += bytes;
        folded.places.insert(folded.places.end(), bytes.size(), place);
    };
    for (size_t at = 0; at < text.size();) {
        size_t length = 1;
        std::string_view bytes(text.data() + at, 1);
        for (const auto& [set, typed] : typeset)
            if (text.compare(at, set.size(), set) == 0) {
                length = set.size();
                bytes = typed;
                break;
            }
        if (!std::isspace(static_cast<unsigned char>(text[at]))) add(bytes, at);
        at += length;
    }
    return folded;
}

// A word that a line's end divides is the word.
Folded folded(const std::string& text) {
    const Folded all = without_space(text);
    Folded kept;
    for (size_t i = 0; i < all.text.size(); ++i) {
        const bool within = all.text[i] == '-' && i > 0 && i + 1 < all.text.size() && is_letter(all.text[i - 1]) &&
                            is_letter(all.text[i + 1]);
        if (within) continue;
        kept.text += all.text[i];
        kept.places.push_back(all.places[i]);
    }
    return kept;
}

}  // namespace

bool says_enough(const std::string& quotation) { return folded(quotation).text.size() >= shortest_quotation; }

std::optional<std::pair<size_t, size_t>> find_quotation(const std::string& quotation, const std::string& text) {
    const Folded wanted = folded(quotation), whole = folded(text);
    if (wanted.text.size() < shortest_quotation || quotation.size() > longest_quotation) return std::nullopt;
    const size_t at = whole.text.find(wanted.text);
    if (at == std::string::npos) return std::nullopt;
    return std::pair{whole.places[at], whole.places[at + wanted.text.size() - 1] + 1};
}

std::string words_to_a_model(const std::string& text) {
    // Searched for line by line, and without nested repetition, so that no text makes it slow.
    static const std::regex phrases(
        R"((ignore|disregard|forget|override)( (all|any|the|of|my))* (your|previous|prior|above|earlier|these))"
        R"(( (previous|prior|above|earlier|own|system))* (instruction|prompt|rule|direction|guideline))"
        R"(|^[ #>*|-]{0,4}(system|assistant|developer)( prompt| message)? ?:)"
        R"(|you are (now|an ai|a language model|chatgpt)|as an ai (model|assistant))"
        R"(|</?(system|assistant|user|tool|tool_call|tool_use|function_call|function|instructions?|antml)[ >:])"
        R"(|<\|[a-z_]{2,20}\|>|\[/?inst\]|<<sys>>)",
        std::regex::icase | std::regex::optimize);
    constexpr size_t longest_line = 2000;
    for (const std::string& line : split(text, '\n'))
        for (size_t start = 0; start < line.size(); start += longest_line) {
            std::smatch found;
            const std::string part = line.substr(start, longest_line);
            if (std::regex_search(part, found, phrases)) return std::string(trim(found.str()));
        }
    return {};
}

}  // namespace strop::study
