#include "agent/prompt.h"

#include <stdexcept>

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"

namespace strop::agent {

std::string fill(const std::string& text, const Facts& facts) {
    std::string result;
    size_t at = 0;
    for (size_t open; (open = text.find("{{", at)) != std::string::npos;) {
        size_t close = text.find("}}", open);
        if (close == std::string::npos) break;
        std::string name = text.substr(open + 2, close - open - 2);
        auto fact = facts.find(name);
        if (fact == facts.end()) throw std::logic_error(fmt::format("a prompt asks for '{}'", name));
        result += text.substr(at, open - at) + fact->second;
        at = close + 2;
    }
    return result + text.substr(at);
}

Prompt load_prompt(const std::string& name, const Facts& facts) {
    static const std::string heading = "# Task\n";
    std::string text = read_file(home_folder() / "prompts" / (name + ".md"));
    size_t task = text.starts_with(heading) ? 0 : text.find("\n" + heading);
    if (task == std::string::npos) throw std::logic_error(fmt::format("prompts/{}.md has no '# Task'", name));
    if (task > 0) ++task;
    return {std::string(trim(fill(text.substr(0, task), facts))),
            std::string(trim(fill(text.substr(task + heading.size()), facts)))};
}

std::string load_schema(const std::string& name) {
    return read_file(home_folder() / "prompts/schemas" / (name + ".json"));
}

}  // namespace strop::agent
