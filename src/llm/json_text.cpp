#include "llm/json_text.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "llm/tolerant_json.h"

namespace strop::llm {

namespace {

using nlohmann::json;
using Found = TolerantReader::Found;

// "[1]" and "{}" stand in prose and in code as well: they count only when nothing better comes.
bool is_convincing(const Found& found) {
    if (found.value.is_object() || found.state == Found::State::cut) return found.has_member;
    return !found.value.empty() && found.value.front().is_structured();
}

struct Search {
    std::optional<json> best, second_best;
};

Search search_json(std::string_view text) {
    // Texts exist that make every bracket a new attempt; real replies stay far below this.
    TolerantReader reader(text, 32 * static_cast<int64_t>(text.size()) + 100000);
    Search search;
    size_t at = text.find_first_of("{[");
    while (at != std::string_view::npos && !reader.exhausted()) {
        Found found = reader.read(at);
        if (found.state != Found::State::invalid) {
            if (is_convincing(found)) {
                search.best = std::move(found.value);
                return search;
            }
            if (!search.second_best) search.second_best = std::move(found.value);
        }
        at = text.find_first_of("{[", found.end);
    }
    return search;
}

// ---- fences ----------------------------------------------------------------------------------------

// How many backticks or tildes begin a line; 0 when it is no fence.
size_t fence_length(std::string_view line) {
    if (line.empty() || (line[0] != '`' && line[0] != '~')) return 0;
    size_t length = std::min(line.find_first_not_of(line[0]), line.size());
    return length >= 3 ? length : 0;
}

bool closes(std::string_view line, std::string_view opening) {
    return !line.empty() && line[0] == opening[0] && fence_length(line) == line.size() &&
           line.size() >= fence_length(opening);
}

bool opens(std::string_view line) {
    size_t length = fence_length(line);
    return length > 0 && line.find('`', length) == std::string_view::npos;  // "```x```" is code in a line
}

}  // namespace

std::optional<json> find_json(const std::string& text) {
    // Prose may hold code with braces; a block that says it is JSON goes first.
    std::string_view whole = text;
    size_t first = whole.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    if (first == std::string_view::npos) return std::nullopt;
    bool prose = whole[first] != '{' && whole[first] != '[';
    size_t fence = prose ? whole.find("```json") : std::string_view::npos;
    if (fence != std::string_view::npos)
        if (Search search = search_json(whole.substr(fence)); search.best) return search.best;
    Search search = search_json(whole);
    return search.best ? search.best : search.second_best;
}

std::string find_code(const std::string& text) {
    std::string best, block, opening;
    bool any = false, inside = false;
    auto keep = [&] {
        if (!any || block.size() > best.size()) best = block;
        any = true;
        block.clear();
    };
    for (size_t start = 0; start < text.size();) {
        size_t end = std::min(text.find('\n', start), text.size() - 1) + 1;
        std::string_view line = std::string_view(text).substr(start, end - start), bare = trim(line);
        start = end;
        if (inside && closes(bare, opening)) {
            inside = false;
            keep();
        } else if (inside) {
            block += line;
        } else if (opens(bare)) {
            inside = true;
            opening = bare;
        }
    }
    if (inside) keep();  // cut off before its end
    return any ? best : text;
}

}  // namespace strop::llm
