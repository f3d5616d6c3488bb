#include "study/passage.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::study {

namespace {

constexpr size_t least_letters = 40, longest_opening = 300, longest_heading = 200;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// At most `most` bytes of `text` from `start` on, to the end of a line or a word.
size_t cut_at(const std::string& text, size_t start, size_t most) {
    if (text.size() - start <= most) return text.size();
    for (const char* separators : {"\n", " \t"}) {
        const size_t end = text.find_last_of(separators, start + most - 1);
        if (end != std::string::npos && end > start + most / 2) return end + 1;
    }
    size_t end = start + most;
    while (end > start + 1 && is_continuation(text[end])) --end;
    return end;
}

std::vector<Block> in_pieces(const Block& block, size_t most) {
    if (block.text.size() <= most) return {block};
    std::vector<Block> pieces;
    for (size_t start = 0, end = 0; start < block.text.size(); start = end) {
        end = cut_at(block.text, start, most);
        Block piece = block;
        piece.text = block.text.substr(start, end - start);
        if (piece.line > 0)
            piece.line += static_cast<int>(
                std::count(block.text.begin(), block.text.begin() + static_cast<std::ptrdiff_t>(start), '\n'));
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

// The titles above a place.
class Headings {
public:
    void enter(const Block& heading) {
        titles_.resize(std::min(titles_.size(), static_cast<size_t>(heading.level - 1)));
        titles_.resize(static_cast<size_t>(heading.level - 1));
        titles_.push_back(heading.text.substr(0, cut_at(heading.text, 0, longest_heading)));
    }
    std::string text() const {
        std::vector<std::string> known;
        for (const std::string& title : titles_)
            if (!title.empty()) known.push_back(title);
        return join(known, " > ");
    }

private:
    std::vector<std::string> titles_;
};

bool says_something(const Passage& passage) {
    const auto letters = std::count_if(passage.text.begin(), passage.text.end(),
                                       [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
    return static_cast<size_t>(letters) >= least_letters;
}

Passage::Mark mark_at(const Passage& passage, size_t offset) {
    Passage::Mark found;
    for (const Passage::Mark& mark : passage.marks)
        if (mark.offset <= offset) found = mark;
    if (found.line > 0)
        found.line += static_cast<int>(std::count(passage.text.begin() + static_cast<std::ptrdiff_t>(found.offset),
                                                  passage.text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    return found;
}

}  // namespace

std::vector<Passage> passages_of(const Document& document, size_t longest) {
    std::vector<Passage> passages;
    Passage open;
    Headings headings;
    auto close = [&] {
        if (says_something(open)) passages.push_back(std::move(open));
        open = {};
    };
    for (const Block& whole : document.blocks) {
        if (whole.level > 0 && open.text.size() > longest / 2) close();
        for (const Block& block : in_pieces(whole, longest)) {
            if (!open.text.empty() && open.text.size() + 2 + block.text.size() > longest) close();
            if (open.text.empty()) open.heading = headings.text();
            else open.text += "\n\n";
            open.marks.push_back({open.text.size(), block.page, block.line});
            open.text += block.text;
        }
        if (whole.level > 0) headings.enter(whole);
    }
    close();
    return passages;
}

std::string place_of(const Passage& passage, size_t begin, size_t end) {
    const size_t last = std::min(std::max(begin + 1, end), passage.text.size());
    const Passage::Mark from = mark_at(passage, std::min(begin, passage.text.size())),
                        to = mark_at(passage, last == 0 ? 0 : last - 1);
    auto range = [](const std::string& one, const std::string& several, int first, int second) {
        return first == second ? fmt::format("{} {}", one, first) : fmt::format("{} {}–{}", several, first, second);
    };
    return from.page > 0 ? range("p.", "p.", from.page, to.page) : range("line", "lines", from.line, to.line);
}

std::string place_of(const Passage& passage) { return place_of(passage, 0, passage.text.size()); }

std::string opening_of(const Document& document) {
    std::string text;
    for (const Block& block : document.blocks) {
        if (text.size() >= longest_opening) break;
        text += (text.empty() ? "" : "\n") + block.text;
    }
    return std::string(trim(text.substr(0, cut_at(text, 0, longest_opening))));
}

}  // namespace strop::study
