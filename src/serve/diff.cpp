#include "serve/diff.h"

#include <algorithm>

#include <dtl/dtl.hpp>

#include "base/strings.h"

namespace strop::serve {

namespace {

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    return split(text, '\n');
}

}  // namespace

std::vector<DiffLine> diff(std::string_view before, std::string_view after) {
    dtl::Diff<std::string, Lines> comparison(lines_of(before), lines_of(after));
    comparison.compose();
    std::vector<DiffLine> lines;
    size_t old_line = 0, new_line = 0;
    for (const auto& [text, info] : comparison.getSes().getSequence()) {
        switch (info.type) {
            case dtl::SES_DELETE: lines.push_back({DiffLine::Kind::removed, text, ++old_line, 0}); break;
            case dtl::SES_ADD: lines.push_back({DiffLine::Kind::added, text, 0, ++new_line}); break;
            default: lines.push_back({DiffLine::Kind::same, text, ++old_line, ++new_line});
        }
    }
    // In each change, what was removed comes first.
    auto changed = [](const DiffLine& line) { return line.kind != DiffLine::Kind::same; };
    for (auto begin = std::find_if(lines.begin(), lines.end(), changed); begin != lines.end();) {
        const auto end = std::find_if_not(begin, lines.end(), changed);
        std::stable_partition(begin, end, [](const DiffLine& line) { return line.kind == DiffLine::Kind::removed; });
        begin = std::find_if(end, lines.end(), changed);
    }
    return lines;
}

std::vector<std::vector<DiffLine>> hunks(const std::vector<DiffLine>& lines, size_t context) {
    std::vector<std::vector<DiffLine>> hunks;
    size_t shown = 0;  // lines before this one are in a hunk already
    for (size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].kind == DiffLine::Kind::same) continue;
        const size_t begin = std::max(shown, i > context ? i - context : 0);
        const size_t end = std::min(lines.size(), i + context + 1);
        if (hunks.empty() || begin > shown) hunks.emplace_back();
        for (size_t j = begin; j < end; ++j) hunks.back().push_back(lines[j]);
        shown = std::max(shown, end);
    }
    return hunks;
}

}  // namespace strop::serve
