// strop suggest: a model's choice of tunable values for a kernel that is there. Nothing is measured.
#include <fmt/format.h>

#include "agent/suggestion.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/kernel_file.h"
#include "core/json.h"
#include "device/machine.h"
#include "llm/price.h"
#include "problem/cpp_reference.h"

namespace strop::cli {

namespace {

agent::Briefing briefing_of(const Problem& problem) {
    agent::Briefing briefing;
    briefing.problem = problem;
    briefing.machine = measured_machine();
    briefing.reference = reference_text(problem.reference);
    if (is_cpp(problem.reference)) briefing.reference_language = "cpp";
    for (const ShapePoint& point : problem.points) {
        ShapeReport& shape = briefing.shapes.emplace_back();
        shape.label = point.label;
        shape.dims = point.dims;
    }
    return briefing;
}

void print(const std::vector<agent::Suggestion>& suggestions, bool json) {
    Json list = Json::array();
    for (const agent::Suggestion& suggestion : suggestions) {
        if (json) {
            list.push_back(
                {{"configuration", configuration_to_json(suggestion.configuration)}, {"reason", suggestion.reason}});
            continue;
        }
        std::vector<std::string> sets;
        for (const auto& [name, value] : suggestion.configuration)
            sets.push_back(fmt::format("--set {}={}", name, to_string(value)));
        fmt::print("{}\n    {}\n", join(sets, " "), suggestion.reason);
    }
    if (json) fmt::print("{}\n", dump(list, 2));
}

}  // namespace

int command_suggest(const Arguments& arguments) {
    const Problem problem = problem_of_compiled(arguments);
    Kernel kernel =
        read_kernel(arguments.text("KERNEL"), problem, "give a C++ file with `// strop:tune NAME = 1 | 2` comments");
    if (kernel.space.tunables.empty())
        throw UsageError(fmt::format("{}: has no tunables", arguments.text("KERNEL")),
                         "declare some: `// strop:tune NAME = 1 | 2`");
    if (!arguments.has("--model")) throw UsageError("no model was named", "--model anthropic/NAME, or exec:COMMAND");
    install_interrupt_handler();
    llm::Prices prices = llm::load_prices(arguments.text("--prices"));
    llm::Caller caller(prices, {arguments.number("--max-cost"), arguments.integer("--max-tokens")}, {}, false,
                       [] { return interrupted(); });
    agent::Panel panel(
        agent::seats_of(arguments.all("--model"), arguments.text("--base-url"), arguments.text("--key-file")), caller);
    llm::hide_keys();
    std::vector<std::string> losses;
    std::vector<agent::Suggestion> suggestions =
        agent::suggest(kernel, briefing_of(problem), panel, static_cast<size_t>(arguments.integer("--count")), losses);
    check_interrupt();
    for (const std::string& loss : losses) fmt::print(stderr, "lost: {}\n", loss);
    print(suggestions, arguments.has("--json"));
    return static_cast<int>(suggestions.empty() ? Exit::no_improvement : Exit::improved);
}

}  // namespace strop::cli
