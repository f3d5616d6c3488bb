// A document in pieces that a model reads one by one.
#pragma once

#include <string>
#include <vector>

#include "study/document.h"

namespace strop::study {

inline constexpr size_t longest_passage = 6000;  // bytes

struct Passage {
    struct Mark {
        size_t offset = 0;  // in the text, where a block begins
        int page = 0, line = 0;
    };
    std::string heading;  // those above it: "Memory > Prefetching"
    std::string text;
    std::vector<Mark> marks;
};

// In the document's order; a heading begins a new one where the last is half full. Blocks that are longer than a
// passage are cut at the end of a line, else of a word. What holds hardly any letters is left out.
std::vector<Passage> passages_of(const Document& document, size_t longest = longest_passage);

// "p. 12", "p. 12–13", "line 3", "lines 3–7", of the bytes from `begin` to `end`.
std::string place_of(const Passage& passage, size_t begin, size_t end);
std::string place_of(const Passage& passage);

// The beginning of a document, which tells what it is about.
std::string opening_of(const Document& document);

}  // namespace strop::study
