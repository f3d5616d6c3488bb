#include "backend/source_text.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"

namespace strop::backend {

namespace {

std::string tunable_line(const Tunable& tunable) {
    std::vector<std::string> values;
    for (const Value& value : tunable.values) values.push_back(to_string(value));
    return fmt::format("// strop:tune {} = {}\n", tunable.name, join(values, " | "));
}

}  // namespace

std::string reserved_name(const Problem& problem, const std::set<std::string>& words) {
    auto taken = [&](const std::string& name) { return words.contains(name); };
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
        for (const Tensor& tensor : *tensors)
            if (taken(tensor.name)) return tensor.name;
    for (const Parameter& parameter : problem.parameters)
        if (taken(parameter.name)) return parameter.name;
    for (const std::string& dimension : problem.dimensions)
        if (taken(dimension)) return dimension;
    return {};
}

std::string head_comments(const Problem& problem, const schedule::Schedule& schedule, const BlockProgram& program) {
    std::string text = fmt::format("// {}: {}\n", problem.name, schedule.hypothesis);
    if (schedule.condition) text += fmt::format("// for {}\n", schedule.condition->text());
    for (const auto* tunables : {&schedule.space.tunables, &program.tunables})
        for (const Tunable& tunable : *tunables) text += tunable_line(tunable);
    for (const auto* constraints : {&schedule.space.constraints, &program.constraints})
        for (const Expression& constraint : *constraints)
            text += fmt::format("// strop:require {}\n", constraint.text());
    return text;
}

std::string tile_macros(const BlockProgram& program) {
    const bool tiles = std::any_of(program.tunables.begin(), program.tunables.end(),
                                   [](const Tunable& tunable) { return tunable.name == each_m; });
    if (!tiles) return {};
    return fmt::format("\n#define THREADS (({} / {}) * ({} / {}))  // of a block that computes a tile\n",
                       schedule::tile_m, each_m, schedule::tile_n, each_n);
}

}  // namespace strop::backend
