#include "language/link_command.h"

#include <algorithm>

#include "base/strings.h"

namespace strop {

namespace {

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

std::vector<std::string> LinkCommand::linking(const std::string& to, const std::vector<std::string>& objects) const {
    std::vector<std::string> argv = words;
    argv[library] = to;
    const auto at = argv.erase(argv.begin() + static_cast<std::ptrdiff_t>(object));
    argv.insert(at, objects.begin(), objects.end());
    return argv;
}

std::optional<LinkCommand> read_link_command(const std::string& printed, const std::string& library,
                                             const std::string& object) {
    LinkCommand command{quoted_words(split(std::string(trim(printed)), '\n').back())};
    const auto place = [&](const std::string& word) {
        const auto at = std::find(command.words.begin(), command.words.end(), word);
        return static_cast<size_t>(at - command.words.begin());
    };
    command.library = place(library);
    command.object = place(object);
    if (std::max(command.library, command.object) == command.words.size()) return std::nullopt;
    return command;
}

}  // namespace strop
