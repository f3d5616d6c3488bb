#include "graph/work.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "graph/rank.h"

namespace strop {

namespace {

double elements(const Node& node, const Bindings& dimensions) {
    double count = 1;
    for (const Expression& extent : node.shape) count *= static_cast<double>(extent.evaluate_integer(dimensions));
    return count;
}

// The product of the extents that the contraction sums over.
double summed(const Graph& graph, const Node& node, const Bindings& dimensions) {
    double count = 1;
    std::string seen = node.labels.at(2);
    for (size_t operand = 0; operand < 2; ++operand)
        for (size_t axis = 0; axis < node.labels[operand].size(); ++axis) {
            char label = node.labels[operand][axis];
            if (seen.find(label) != std::string::npos) continue;
            seen += label;
            count *= static_cast<double>(graph.at(node.operands[operand]).shape.at(axis).evaluate_integer(dimensions));
        }
    return count;
}

// The comparisons of all pairs by which a graph says that rows are sorted: who sorts makes few of them.
void find_comparisons(const Graph& graph, int id, int source, std::set<int>& found) {
    const Node& node = graph.at(id);
    if (id == source || (node.family != Family::reduction && node.family != Family::pointwise)) return;
    found.insert(id);
    for (int operand : node.operands) find_comparisons(graph, operand, source, found);
}

double of_a_sort(const Graph& graph, const Rank& rank, const Bindings& dimensions) {
    const Node& source = graph.at(rank.source);
    const double length = static_cast<double>(source.shape.back().evaluate_integer(dimensions));
    return elements(source, dimensions) * std::log2(std::max(length, 2.0));
}

}  // namespace

double count_flops(const Graph& graph, const Bindings& dimensions) {
    double flops = 0;
    std::set<int> comparisons;
    std::set<LoopKey> loops;
    for (const Node& node : graph.nodes)
        if (const std::optional<Rank> rank = rank_of(graph, node)) {
            find_comparisons(graph, node.id, rank->source, comparisons);
            flops += of_a_sort(graph, *rank, dimensions);
        }
    for (const Node& node : graph.nodes) {
        if (comparisons.contains(node.id)) continue;
        switch (node.family) {
            case Family::pointwise: flops += elements(node, dimensions); break;
            case Family::reduction:
            case Family::scan: flops += elements(graph.at(node.operands.at(0)), dimensions); break;
            case Family::contraction: flops += 2 * elements(node, dimensions) * summed(graph, node, dimensions); break;
            case Family::convolution: {
                const Node& weights = graph.at(node.operands.at(1));
                double taps = elements(weights, dimensions) /
                              static_cast<double>(weights.shape.at(0).evaluate_integer(dimensions));
                flops += 2 * taps * elements(node, dimensions);
                break;
            }
            case Family::scatter: flops += elements(graph.at(node.operands.at(2)), dimensions); break;
            case Family::repeat: {
                if (!loops.insert(loop_of(node)).second) break;  // another result of the same
                Bindings inside = dimensions;
                inside[node.loop->step] = int64_t{0};
                flops += std::max(0.0, static_cast<double>(node.loop->count.evaluate_integer(dimensions))) *
                         count_flops(node.loop->body, inside);
                break;
            }
            default: break;
        }
    }
    return flops;
}

}  // namespace strop
