#include "playbook/stage_schedules.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/launch_builder.h"
#include "playbook/stage_parts.h"

namespace strop::playbook {

using namespace schedule;

namespace {

bool is_structural(const Node& node) {
    return node.family == Family::reduction || node.family == Family::scan || node.family == Family::contraction ||
           node.family == Family::convolution;
}

// All outputs of one shape in one launch.
std::optional<Launch> elementwise(const Problem& problem, const Graph& graph, const std::string& name) {
    const std::vector<Expression>& shape = graph.at(graph.outputs[0]).shape;
    for (int id : graph.outputs)
        if (graph.at(id).shape != shape) return std::nullopt;
    if (std::any_of(graph.nodes.begin(), graph.nodes.end(), is_structural)) return std::nullopt;
    LaunchBuilder builder(problem, graph, name, Share::threads);
    const Index index = builder.flat_grid(shape);
    StoreStep stores;
    for (size_t k = 0; k < graph.outputs.size(); ++k) stores.stores.push_back(builder.output(k, index));
    builder.step({}, std::move(stores));
    if (!builder.terms.lacks().empty()) return std::nullopt;
    return std::move(builder.launch);
}

std::vector<StageSchedule> one_launch_per_output(const Problem& problem, const Graph& graph,
                                                 const std::string& prefix) {
    StageSchedule result{
        "thread_per_element", "each thread computes one element of each output", "memory", 0.4, {}, {}, {}, {}};
    if (std::optional<Launch> all = elementwise(problem, graph, prefix)) {
        result.launches = {std::move(*all)};
        return {std::move(result)};
    }
    for (size_t k = 0; k < graph.outputs.size(); ++k) {
        std::optional<Launch> launch =
            output_launch(problem, graph, k, graph.outputs.size() == 1 ? prefix : fmt::format("{}_{}", prefix, k + 1));
        if (!launch) return {};
        result.launches.push_back(std::move(*launch));
    }
    return {std::move(result)};
}

}  // namespace

bool is_structure(const Graph& graph) {
    Problem unnamed;
    for (int id : graph.outputs)
        unnamed.outputs.push_back({"y", graph.at(id).dtype, graph.at(id).shape, Fill::normal, {}});
    return !schedule_stage(unnamed, graph, "stage", false).empty();
}

std::vector<StageSchedule> schedule_stage(const Problem& problem, const Graph& graph, const std::string& prefix,
                                          bool plain, int64_t kept_bytes) {
    if (graph.outputs.empty()) return {};
    if (plain) return one_launch_per_output(problem, graph, prefix);
    if (std::vector<StageSchedule> found = schedule_product(problem, graph, prefix); !found.empty()) return found;
    if (auto found = schedule_reductions(problem, graph, prefix, kept_bytes); !found.empty()) return found;
    if (std::vector<StageSchedule> found = schedule_scan(problem, graph, prefix); !found.empty()) return found;
    if (std::optional<Launch> all = elementwise(problem, graph, prefix)) {
        StageSchedule one{
            "thread_per_element", "each thread computes the elements at one place", "memory", 0.5, {}, {}, {}, {}};
        one.launches = {std::move(*all)};
        return {std::move(one)};
    }
    return {};
}

}  // namespace strop::playbook
