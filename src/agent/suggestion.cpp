#include "agent/suggestion.h"

#include <fmt/format.h>

#include "agent/prompt.h"
#include "agent/reply.h"
#include "base/error.h"
#include "base/strings.h"
#include "language/contract.h"

namespace strop::agent {

namespace {

std::string space_text(const TunableSpace& space) {
    std::string text;
    for (const Tunable& tunable : space.tunables) {
        std::vector<std::string> values;
        for (const Value& value : tunable.values) values.push_back(to_string(value));
        text += fmt::format("{}: {}\n", tunable.name, join(values, " | "));
    }
    for (const Expression& constraint : space.constraints) text += fmt::format("require {}\n", constraint.text());
    return text;
}

}  // namespace

std::vector<Suggestion> suggest(const Kernel& kernel, const Briefing& briefing, Panel& panel, size_t count,
                                std::vector<std::string>& losses) {
    Prompt prompt = load_prompt("suggester", {{"briefing", describe(briefing, "suggester")},
                                              {"source", kernel.source},
                                              {"space", space_text(kernel.space)},
                                              {"count", std::to_string(count)}});
    llm::Request request;
    request.role = request.schema_name = "suggester";
    request.system = "role: suggester\n\n" + prompt.system;
    request.messages.push_back({llm::Message::Author::user, prompt.task});
    request.schema = load_schema("suggester");
    llm::Reply reply = panel.ask(request, kernel.id);
    std::vector<Suggestion> suggestions;
    if (reply.text.empty()) losses.push_back(reply.why.empty() ? llm::name_of(reply.failure) : reply.why);
    for (const Choice& choice : read_choices(reply.text)) {
        if (suggestions.size() == count) break;
        try {
            suggestions.push_back({chosen_configuration(kernel.space, choice.values), choice.reason});
        } catch (const UsageError& error) {
            losses.push_back(error.what());
        }
    }
    if (suggestions.empty() && losses.empty()) losses.push_back("the reply names no configuration");
    return suggestions;
}

}  // namespace strop::agent
