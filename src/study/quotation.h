// Whether a document says what is quoted from it, and whether it speaks to who reads it.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace strop::study {

inline constexpr size_t shortest_quotation = 12, longest_quotation = 600;  // bytes

// Whether it is long enough to be looked for.
bool says_enough(const std::string& quotation);

// From where to where `text` has the quotation. White space does not count, nor does how a page sets letters: hyphens
// within words, ligatures, curly quotes, dashes. Nothing for a quotation that is too short to say anything.
std::optional<std::pair<size_t, size_t>> find_quotation(const std::string& quotation, const std::string& text);

// The first words of a text that are meant for a language model ("ignore your instructions", "system:", tags of tools
// and of chat templates); empty: none. A hint for people and one more reason to leave a lesson out, and no protection.
std::string words_to_a_model(const std::string& text);

}  // namespace strop::study
