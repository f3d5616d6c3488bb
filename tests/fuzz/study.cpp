// Documents: text into blocks and passages, and what is looked for in them.
#include <algorithm>
#include <cctype>

#include "fuzz/fuzz.h"
#include "study/passage.h"
#include "study/quotation.h"

namespace {

size_t letters(const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace strop::study;
    const std::string text = strop::fuzz::text_of(data, size);
    for (int form = 0; form < 3; ++form) {
        Document document{"fuzz", "", 0, form == 2 ? blocks_of_pages(text) : blocks_of_lines(text, form == 1)};
        for (const Passage& passage : passages_of(document, 200)) {
            strop::fuzz::must(passage.text.size() <= 200, "a passage that is too long");
            strop::fuzz::must(letters(passage.text) <= letters(text), "more letters than there are");
            place_of(passage);
            words_to_a_model(passage.text);
            const std::string quotation = passage.text.substr(0, 60);
            const auto found = find_quotation(quotation, passage.text);
            if (found)
                strop::fuzz::must(found->first < found->second && found->second <= passage.text.size(), "nowhere");
        }
        opening_of(document);
    }
    return 0;
}
