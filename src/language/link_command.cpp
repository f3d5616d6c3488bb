#include "language/link_command.h"

#include <algorithm>

#include "base/strings.h"

namespace strop {

namespace {

constexpr const char *library_place = "<library>", *objects_place = "<objects>";

// A backslash stands before quotation marks and backslashes.
std::vector<std::string> quoted_words(const std::string& line) {
    std::vector<std::string> words;
    bool inside = false;
    for (size_t i = 0; i < line.size(); ++i) {
        const bool mark = line[i] == '"';
        if (mark && !inside) words.emplace_back();
        if (mark) inside = !inside;
        else if (inside) words.back() += line[i] == '\\' && i + 1 < line.size() ? line[++i] : line[i];
    }
    return words;
}

}  // namespace

std::vector<std::string> LinkCommand::linking(const std::string& library,
                                              const std::vector<std::string>& objects) const {
    std::vector<std::string> argv;
    for (const std::string& word : words) {
        if (word == library_place) argv.push_back(library);
        else if (word == objects_place) argv.insert(argv.end(), objects.begin(), objects.end());
        else argv.push_back(word);
    }
    return argv;
}

std::optional<LinkCommand> read_link_command(const std::string& printed, const std::string& library,
                                             const std::string& object) {
    const std::vector<std::string> lines = split(std::string(trim(printed)), '\n');
    LinkCommand command{quoted_words(lines.back())};
    for (const auto& [word, place] : {std::pair{library, library_place}, {object, objects_place}}) {
        const auto at = std::find(command.words.begin(), command.words.end(), word);
        if (at == command.words.end()) return std::nullopt;
        *at = place;
    }
    return command;
}

}  // namespace strop
