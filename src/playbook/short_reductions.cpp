#include "playbook/short_reductions.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

const std::map<std::string, std::string>& operation_of_two() {
    static const std::map<std::string, std::string> operations = {
        {"sum", "add"}, {"prod", "multiply"}, {"max", "maximum"}, {"min", "minimum"}};
    return operations;
}

class Unroller {
public:
    explicit Unroller(const Graph& graph) : graph_(graph) {}

    Graph run() {
        for (const Node& node : graph_.nodes) {
            reads_windows_.push_back(reads_windows(node));
            places_.push_back(placed(node));
        }
        std::vector<int> outputs;
        for (int id : graph_.outputs) outputs.push_back(places_[index(id)]);
        return out_.finish(outputs);
    }

private:
    static size_t index(int id) { return static_cast<size_t>(id); }

    // Neighbours that overlap: kernels of windows keep what they have read.
    bool reads_windows(const Node& node) const {
        if (node.family == Family::layout && node.op == "window") return true;
        return (node.family == Family::layout || node.family == Family::pointwise) &&
               std::any_of(node.operands.begin(), node.operands.end(),
                           [&](int operand) { return reads_windows_[index(operand)]; });
    }

    int placed(const Node& node) {
        if (const int64_t elements = elements_of(node)) return unrolled(node, elements);
        if (const int64_t elements = terms_of(node)) return unrolled_product(node, elements);
        Node copy = node;
        for (int& operand : copy.operands) operand = places_[index(operand)];
        return out_.add(std::move(copy));
    }

    // 0: not to be unrolled.
    int64_t elements_of(const Node& node) const {
        if (node.family != Family::reduction || node.axes.size() != 1 || !operation_of_two().contains(node.op))
            return 0;
        const Node& source = graph_.at(node.operands[0]);
        const Expression& extent = source.shape[index(node.axes[0])];
        if (!extent.is_literal() || source.dtype != node.dtype || reads_windows_[index(source.id)]) return 0;
        const int64_t elements = extent.evaluate_integer({});
        return elements >= 2 && elements <= most_unrolled ? elements : 0;
    }

    int unrolled(const Node& node, int64_t elements) {
        const size_t along = index(node.axes[0]);
        int total = element(node.operands[0], along, 0);
        for (int64_t place = 1; place < elements; ++place)
            total = out_.pointwise(operation_of_two().at(node.op), {total, element(node.operands[0], along, place)},
                                   node.dtype);
        return out_.reshape(total, node.shape);
    }

    // Of a product with a vector along an axis of few elements (three colours, weighted); 0: not to be unrolled.
    int64_t terms_of(const Node& node) const {
        if (node.family != Family::contraction || node.labels[1].size() != 1) return 0;
        const Node &left = graph_.at(node.operands[0]), &right = graph_.at(node.operands[1]);
        std::string rest = node.labels[0];
        const size_t along = rest.find(node.labels[1]);
        if (along == std::string::npos || rest.find(node.labels[1], along + 1) != std::string::npos) return 0;
        const Expression& extent = left.shape[along];
        if (rest.erase(along, 1) != node.labels[2] || !extent.is_literal() || reads_windows_[index(left.id)]) return 0;
        if (left.dtype != node.dtype || right.dtype != node.dtype) return 0;
        const int64_t terms = extent.evaluate_integer({});
        return terms >= 2 && terms <= most_unrolled ? terms : 0;
    }

    int unrolled_product(const Node& node, int64_t terms) {
        const size_t along = node.labels[0].find(node.labels[1]);
        int total = -1;
        for (int64_t place = 0; place < terms; ++place) {
            const int term = out_.pointwise(
                "multiply", {element(node.operands[0], along, place), element(node.operands[1], 0, place)}, node.dtype);
            total = total < 0 ? term : out_.pointwise("add", {total, term}, node.dtype);
        }
        return out_.reshape(total, node.shape);
    }

    // What a value holds at this place of an axis. Of a formula that nobody else needs, its operands are cut.
    int element(int id, size_t along, int64_t place) {
        const Node& node = graph_.at(id);
        Node cut;
        if (node.family == Family::pointwise && graph_.users(id).size() == 1) {
            cut = node;
            for (int& operand : cut.operands) {
                const Shape& shape = graph_.at(operand).shape;
                const size_t added = node.shape.size() - shape.size();
                const bool whole = along < added || shape[along - added].is_literal(1);
                operand = whole ? places_[index(operand)] : element(operand, along - added, place);
            }
        } else {
            cut = whole_slice(out_.at(places_[index(id)]));
            cut.begin[along] = place;
            cut.end[along] = place + 1;
        }
        cut.shape[along] = 1;
        return out_.add(std::move(cut));
    }

    const Graph& graph_;
    GraphWriter out_;
    std::vector<char> reads_windows_;  // of the graph's nodes
    std::vector<int> places_;          // likewise, in the new graph
};

}  // namespace

Graph unrolled_short_reductions(const Graph& graph) { return Unroller(graph).run(); }

}  // namespace strop::playbook
