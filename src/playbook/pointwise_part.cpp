#include "playbook/pointwise_part.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/rewrite.h"
#include "playbook/pointwise.h"

namespace strop::playbook {

namespace {

class Collector {
public:
    Collector(const Graph& graph, int root, int stop) : graph_(graph), stop_(stop) { part_.root = root; }

    PointwisePart run() {
        visit(part_.root);
        return std::move(part_);
    }

private:
    void lack(const std::string& what) {
        if (part_.lacks.empty()) part_.lacks = what;
    }

    void visit(int id) {
        if (id == stop_ || !seen_.insert(id).second) return;
        const Node& node = graph_.at(id);
        if (const Node* input = input_behind(graph_, id)) return add(node, *input);
        if (node.family == Family::parameter || node.family == Family::constant) return;
        if (node.family != Family::pointwise)
            return lack(fmt::format("{} '{}' inside the loops", name_of(node.family), node.op));
        if (node.dtype != DType::float32 && node.dtype != DType::float64 && node.dtype != DType::boolean)
            return lack("values of type " + name_of(node.dtype));
        for (int operand : node.operands) visit(operand);
    }

    void add(const Node& node, const Node& input) {
        if (input.dtype != DType::float32) return lack("inputs of type " + name_of(input.dtype));
        const std::vector<Expression>& shape = graph_.at(part_.root).shape;
        if (node.shape.size() > shape.size()) return lack("operands of a higher rank");
        PartOperand operand{node.id, input.op, std::vector<bool>(shape.size(), false)};
        const size_t added = shape.size() - node.shape.size();
        for (size_t axis = 0; axis < node.shape.size(); ++axis) {
            if (node.shape[axis].is_literal(1)) continue;
            if (!same_value(node.shape[axis], shape[axis + added])) return lack("operands of another shape");
            operand.spans[axis + added] = true;
        }
        part_.operands.push_back(std::move(operand));
    }

    const Graph& graph_;
    const int stop_;
    std::set<int> seen_;
    PointwisePart part_;
};

}  // namespace

PointwisePart pointwise_part(const Graph& graph, int root, int stop) { return Collector(graph, root, stop).run(); }

const Node* input_behind(const Graph& graph, int id) {
    const Node* node = &graph.at(id);
    while (node->family == Family::layout && node->op == "reshape") node = &graph.at(node->operands.at(0));
    return node->family == Family::input ? node : nullptr;
}

std::string slice_index(const std::vector<Expression>& extents, const std::set<size_t>& members,
                        const std::string& variable) {
    const std::vector<size_t> own(members.begin(), members.end());
    if (own.empty()) return "0";
    if (own.size() == extents.size()) return variable;
    std::string text;
    Expression below_own(1);
    for (size_t k = own.size(); k-- > 0;) {
        Expression below(1);
        for (size_t q = own[k] + 1; q < extents.size(); ++q) below = below * extents[q];
        std::string coordinate = below.is_literal(1) ? variable : variable + " / " + factor(below);
        if (own[k] > 0) coordinate += " % " + factor(extents[own[k]]);
        std::string term = below_own.is_literal(1) ? coordinate : coordinate + " * " + factor(below_own);
        text = text.empty() ? term : term + " + " + text;
        below_own = below_own * extents[own[k]];
    }
    return own.size() > 1 ? "(" + text + ")" : text;
}

PartValue part_value(const Graph& graph, const PointwisePart& part, const std::map<int, std::string>& known,
                     const std::set<int>& uniform, bool scalar) {
    PointwiseCode code = emit_pointwise(graph, part.root, known, "", scalar, uniform);
    PartValue value{{}, code.result, code.lacks, code.helpers};
    for (const std::string& statement : code.statements) value.statements.push_back("const " + statement);
    return value;
}

std::string factor(const Expression& extent) {
    std::string text = extent.cpp();
    return extent.is_symbol() || extent.is_literal() ? text : "(" + text + ")";
}

std::string times(const Expression& by, const std::string& variable) {
    return by.is_literal(1) ? variable : factor(by) + " * " + variable;
}

Expression product(const std::vector<Expression>& extents) {
    Expression all(1);
    for (const Expression& extent : extents) all = all * extent;
    return all;
}

}  // namespace strop::playbook
