#include "cli/sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/cuda.h"
#include "backend/opencl.h"
#include "backend/tilelang.h"
#include "backend/triton.h"
#include "base/error.h"
#include "base/strings.h"
#include "device/machine.h"
#include "graph/rewrite.h"
#include "playbook/playbook.h"
#include "playbook/scheduled_strategies.h"

namespace strop::cli {

namespace {

Sources written_in_cpp(const Problem& problem, const std::string& graph) {
    playbook::Playbook playbook(problem, graph, detect_machine());
    Sources sources{{}, {}, playbook.why_nothing()};
    auto add = [&](const Proposal& proposal) {
        const Kernel& kernel = proposal.kernel;
        sources.written.push_back(
            {kernel.id, kernel.parent, proposal.strategy.hypothesis, kernel.source, kernel.condition, kernel.initial});
    };
    for (const Proposal& planned : playbook.plan()) {
        add(planned);
        std::vector<std::string> tried;
        for (;;) {
            const std::vector<Proposal> more = playbook.deepen(planned.strategy, planned.kernel, {}, tried);
            if (more.empty()) break;
            for (const Proposal& variant : more) {
                add(variant);
                tried.push_back(variant.strategy.id);
            }
        }
    }
    return sources;
}

using Writer = backend::SourceText (*)(const Problem&, const schedule::Schedule&);

Sources written_from_schedules(Language language, const Problem& problem, const std::string& graph_json, Writer write) {
    const Graph graph = parse_graph(graph_json);
    if (!graph.untraceable.empty())
        return {{}, {}, fmt::format("the reference cannot be traced: {}", graph.untraceable)};
    const playbook::ScheduledStrategies scheduled =
        playbook::scheduled_strategies(problem, simplify(graph), playbook::abilities_of(language));
    Sources sources{{}, {}, scheduled.lacks};
    auto add = [&](const playbook::ScheduledStrategy& one, const std::string& parent) {
        const backend::SourceText text = write(problem, one.schedule);
        const std::string id = parent.empty() ? one.strategy.id : parent + "+" + one.suffix;
        if (!text.lacks.empty()) {
            sources.lacks = fmt::format("the language lacks {}", text.lacks);
            sources.lacking[id] = text.lacks;
        } else
            sources.written.push_back({id, parent, one.strategy.hypothesis, text.source, one.schedule.condition, {}});
    };
    for (const playbook::ScheduledStrategy& one : scheduled.strategies) {
        add(one, "");
        for (const playbook::ScheduledStrategy& variant : one.variants) add(variant, one.strategy.id);
    }
    return sources;
}

std::string extents_of(const std::vector<Expression>& shape, const Bindings& bindings) {
    std::vector<std::string> extents;
    for (const Expression& extent : shape) extents.push_back(fmt::format("{}", extent.evaluate_integer(bindings)));
    return "[" + join(extents, ", ") + "]";
}

// What the judge says of every kernel later: UsageError where the reference returns other shapes than the problem has.
void check_outputs(const Problem& problem, const Graph& graph) {
    for (size_t t = 0; t < std::min(problem.outputs.size(), graph.outputs.size()); ++t)
        for (const ShapePoint& point : problem.points) {
            const Tensor& output = problem.outputs[t];
            const Bindings bindings = bindings_of(problem, point.dims);
            const std::string declared = extents_of(output.shape, bindings),
                              returned = extents_of(graph.at(graph.outputs[t]).shape, bindings);
            if (declared != returned)
                throw UsageError(fmt::format("the reference returns shape {} for '{}' at {}, the problem declares {}",
                                             returned, output.name, point.label, declared),
                                 "change the output's shape in problem.yaml");
        }
}

}  // namespace

std::string with_condition(const std::string& given, const std::string& condition) {
    const std::string mark = given.starts_with("#") ? "#" : "//";
    const std::string source = replace_all(given, fmt::format("\n{} for {}\n", mark, condition), "\n");
    size_t at = 0;
    while (source.compare(at, mark.size(), mark) == 0 && source.compare(at, mark.size() + 7, mark + " strop:") != 0)
        at = source.find('\n', at) + 1;
    return fmt::format("{}{} strop:when {}\n{}", source.substr(0, at), mark, condition, source.substr(at));
}

Sources sources_in(Language language, const Problem& problem, const std::string& graph) {
    if (const Graph traced = parse_graph(graph); traced.untraceable.empty()) check_outputs(problem, traced);
    switch (language) {
        case Language::opencl: return written_from_schedules(language, problem, graph, backend::write_opencl);
        case Language::cuda: return written_from_schedules(language, problem, graph, backend::write_cuda);
        case Language::triton: return written_from_schedules(language, problem, graph, backend::write_triton);
        case Language::cpp: return written_in_cpp(problem, graph);
        case Language::tilelang: return written_from_schedules(language, problem, graph, backend::write_tilelang);
        case Language::python: break;
    }
    return {{}, {}, "there is no writer for " + name_of(language)};
}

Language written_language(const std::string& name) {
    for (Language language : {Language::cpp, Language::opencl, Language::cuda, Language::triton, Language::tilelang})
        if (name == name_of(language)) return language;
    throw UsageError(fmt::format("{}: there is no writer for this language", name),
                     "choose from cpp, opencl, cuda, triton, tilelang");
}

std::string file_ending(Language language) {
    switch (language) {
        case Language::opencl: return ".cl";
        case Language::cuda: return ".cu";
        case Language::triton:
        case Language::tilelang:
        case Language::python: return ".py";
        case Language::cpp: break;
    }
    return ".cpp";
}

}  // namespace strop::cli
