#include "playbook/short_reductions.h"

#include <algorithm>
#include <map>
#include <string>

#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

constexpr int64_t most_elements = 4;

const std::map<std::string, std::string>& operation_of_two() {
    static const std::map<std::string, std::string> operations = {
        {"sum", "add"}, {"prod", "multiply"}, {"max", "maximum"}, {"min", "minimum"}};
    return operations;
}

// Neighbours that overlap: kernels of windows keep what they have read.
bool reads_windows(const Graph& graph, int id) {
    const Node& node = graph.at(id);
    if (node.family == Family::layout && node.op == "window") return true;
    return (node.family == Family::layout || node.family == Family::pointwise) &&
           std::any_of(node.operands.begin(), node.operands.end(), [&](int one) { return reads_windows(graph, one); });
}

// 0: not to be unrolled.
int64_t elements_of(const Graph& graph, const Node& node) {
    if (node.family != Family::reduction || node.axes.size() != 1 || !operation_of_two().contains(node.op)) return 0;
    const Node& source = graph.at(node.operands[0]);
    const Expression& extent = source.shape[static_cast<size_t>(node.axes[0])];
    if (!extent.is_literal() || source.dtype != node.dtype || reads_windows(graph, source.id)) return 0;
    const int64_t elements = extent.evaluate_integer({});
    return elements >= 2 && elements <= most_elements ? elements : 0;
}

class Unroller {
public:
    explicit Unroller(const Graph& graph) : graph_(graph) {}

    Graph run() {
        for (const Node& node : graph_.nodes) {
            if (const int64_t elements = elements_of(graph_, node)) {
                places_[node.id] = unrolled(node, elements);
                continue;
            }
            Node copy = node;
            for (int& operand : copy.operands) operand = places_.at(operand);
            places_[node.id] = append(std::move(copy));
        }
        for (int id : graph_.outputs) result_.outputs.push_back(places_.at(id));
        return std::move(result_);
    }

private:
    int append(Node node) {
        node.id = static_cast<int>(result_.nodes.size());
        result_.nodes.push_back(std::move(node));
        return result_.nodes.back().id;
    }

    int unrolled(const Node& node, int64_t elements) {
        const size_t along = static_cast<size_t>(node.axes[0]);
        int total = element(node.operands[0], along, 0);
        for (int64_t place = 1; place < elements; ++place) {
            Node two;
            two.family = Family::pointwise;
            two.op = operation_of_two().at(node.op);
            two.operands = {total, element(node.operands[0], along, place)};
            two.shape = result_.at(total).shape;
            two.dtype = node.dtype;
            total = append(std::move(two));
        }
        if (node.keepdims) return total;
        Node without;
        without.family = Family::layout;
        without.op = "reshape";
        without.operands = {total};
        without.shape = node.shape;
        without.dtype = node.dtype;
        return append(std::move(without));
    }

    // What a value holds at this place of an axis. Of a formula that nobody else needs, its operands are cut.
    int element(int id, size_t along, int64_t place) {
        const Node& node = graph_.at(id);
        if (node.family != Family::pointwise || graph_.users(id).size() != 1) return slice(node, along, place);
        Node copy = node;
        copy.shape[along] = 1;
        for (int& operand : copy.operands) {
            const Shape& shape = graph_.at(operand).shape;
            const size_t added = node.shape.size() - shape.size();
            const bool whole = along < added || shape[along - added].is_literal(1);
            operand = whole ? places_.at(operand) : element(operand, along - added, place);
        }
        return append(std::move(copy));
    }

    int slice(const Node& node, size_t along, int64_t place) {
        Node cut;
        cut.family = Family::layout;
        cut.op = "slice";
        cut.operands = {places_.at(node.id)};
        cut.shape = cut.end = node.shape;
        cut.begin.assign(node.shape.size(), 0);
        cut.step.assign(node.shape.size(), 1);
        cut.begin[along] = place;
        cut.end[along] = place + 1;
        cut.shape[along] = 1;
        cut.dtype = node.dtype;
        return append(std::move(cut));
    }

    const Graph& graph_;
    Graph result_;
    std::map<int, int> places_;  // of the graph's nodes
};

}  // namespace

Graph unrolled_short_reductions(const Graph& graph) { return Unroller(graph).run(); }

}  // namespace strop::playbook
