// Graphs and their problems, put together node by node.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/problem.h"
#include "graph/graph.h"
#include "graph/operations.h"

namespace strop {

// Builds graphs in the spelling of simplify().
class GraphBuilder {
public:
    explicit GraphBuilder(const std::string& name) { problem.name = name; }

    int input(const std::string& name, const std::vector<std::string>& shape, DType dtype = DType::float32) {
        Node node = make(Family::input, name, {}, parse(shape));
        node.dtype = dtype;
        problem.inputs.push_back({name, dtype, node.shape, Fill::normal, {}});
        learn(node.shape);
        return add(node);
    }
    int parameter(const std::string& name, double value, DType dtype = DType::float32) {
        problem.parameters.push_back({name, dtype, value});
        const int id = add(make(Family::parameter, name, {}, {}));
        graph.nodes.back().dtype = dtype;
        return id;
    }
    int constant(double value) {
        Node node = make(Family::constant, "", {}, {});
        node.value = value;
        return add(node);
    }
    int point(const std::string& op, const std::vector<int>& operands) {
        Node node = make(Family::pointwise, op, operands, {});
        for (int id : operands) {
            const std::vector<Expression>& shape = graph.at(id).shape;
            while (node.shape.size() < shape.size()) node.shape.insert(node.shape.begin(), Expression(1));
            for (size_t a = 0; a < shape.size(); ++a) {
                Expression& extent = node.shape[node.shape.size() - shape.size() + a];
                if (extent.is_literal(1)) extent = shape[a];
            }
        }
        const Operation* known = find_operation(Family::pointwise, op);
        if (known && known->result == Operation::Result::truth) node.dtype = DType::boolean;
        return add(node);
    }
    int reduce(const std::string& op, int operand, const std::vector<int>& axes, bool keepdims = true) {
        Node node = make(Family::reduction, op, {operand}, {});
        node.axes = axes;
        node.keepdims = keepdims;
        const std::vector<Expression>& shape = graph.at(operand).shape;
        for (size_t a = 0; a < shape.size(); ++a) {
            bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(a)) != axes.end();
            if (!reduced) node.shape.push_back(shape[a]);
            else if (keepdims) node.shape.push_back(Expression(1));
        }
        const Operation* known = find_operation(Family::reduction, op);
        if (known && known->result == Operation::Result::index) node.dtype = DType::int64;
        return add(node);
    }
    int einsum(int a, int b, const std::vector<std::string>& labels, const std::vector<std::string>& shape) {
        Node node = make(Family::contraction, "einsum", {a, b}, parse(shape));
        node.labels = labels;
        return add(node);
    }
    // Both spatial axes alike.
    int convolution(int x, int w, const std::string& stride, const std::string& padding, const std::string& dilation,
                    const std::string& groups, const std::vector<std::string>& shape) {
        Node node = make(Family::convolution, "", {x, w}, parse(shape));
        node.stride = parse({stride, stride});
        node.padding = parse({padding, padding});
        node.dilation = parse({dilation, dilation});
        node.groups = Expression::parse(groups);
        return add(node);
    }
    int reshape(int operand, const std::vector<std::string>& shape) {
        return add(make(Family::layout, "reshape", {operand}, parse(shape)));
    }
    int pad(int operand, const std::vector<std::string>& begin, const std::vector<std::string>& end, double value) {
        Node node = make(Family::layout, "pad", {operand}, graph.at(operand).shape);
        node.begin = parse(begin);
        node.end = parse(end);
        node.pad_value = value;
        for (size_t a = 0; a < node.shape.size(); ++a) node.shape[a] = node.begin[a] + node.shape[a] + node.end[a];
        return add(node);
    }
    // Windows of `taps` elements `dilation` apart, `stride` apart, over some axes; the taps' axes are the last.
    int windows(int operand, const std::vector<int>& axes, const std::vector<int64_t>& taps,
                const std::vector<int64_t>& stride, const std::vector<int64_t>& dilation) {
        Node node = make(Family::layout, "window", {operand}, graph.at(operand).shape);
        node.axes = axes;
        for (size_t k = 0; k < axes.size(); ++k) {
            const int64_t reach = (taps[k] - 1) * dilation[k] + 1;
            Expression& extent = node.shape[static_cast<size_t>(axes[k])];
            extent = extent - (reach - 1);
            node.window.push_back(reach);
        }
        node.shape.insert(node.shape.end(), node.window.begin(), node.window.end());
        const int view = add(node);
        Node slice = make(Family::layout, "slice", {view}, node.shape);
        const size_t rank = node.shape.size() - axes.size();
        slice.begin.assign(node.shape.size(), 0);
        slice.end = node.shape;
        slice.step.assign(node.shape.size(), 1);
        for (size_t k = 0; k < axes.size(); ++k) {
            const size_t axis = static_cast<size_t>(axes[k]);
            slice.step[axis] = stride[k];
            slice.step[rank + k] = dilation[k];
            slice.shape[axis] = Expression::floor_divide(node.shape[axis] + (stride[k] - 1), stride[k]);
            slice.shape[rank + k] = taps[k];
        }
        return add(slice);
    }
    int scan(const std::string& op, int operand, int axis) {
        Node node = make(Family::scan, op, {operand}, graph.at(operand).shape);
        node.axes = {axis};
        return add(node);
    }
    int reverse(int operand, int axis) {
        Node node = make(Family::layout, "reverse", {operand}, graph.at(operand).shape);
        node.axes = {axis};
        return add(node);
    }
    void output(const std::string& name, int id) {
        graph.outputs.push_back(id);
        problem.outputs.push_back({name, graph.at(id).dtype, graph.at(id).shape, Fill::normal, {}});
    }

    int one_over_count(const std::string& extent) {
        Node node = make(Family::constant, "", {}, {});
        node.dim = Expression::parse(extent);
        return point("reciprocal", {add(node)});
    }
    int mean(int operand, const std::vector<int>& axes, const std::string& count) {
        return point("multiply", {reduce("sum", operand, axes), one_over_count(count)});
    }
    int softmax(int x, int axis) {
        int e = point("exp", {point("subtract", {x, reduce("max", x, {axis})})});
        return point("divide", {e, reduce("sum", e, {axis})});
    }

    Problem problem;
    Graph graph;

private:
    static std::vector<Expression> parse(const std::vector<std::string>& shape) {
        std::vector<Expression> result;
        for (const std::string& extent : shape) result.push_back(Expression::parse(extent));
        return result;
    }
    static Node make(Family family, const std::string& op, std::vector<int> operands, std::vector<Expression> shape) {
        Node node;
        node.family = family;
        node.op = op;
        node.operands = std::move(operands);
        node.shape = std::move(shape);
        return node;
    }
    int add(Node node) {
        node.id = static_cast<int>(graph.nodes.size());
        graph.nodes.push_back(node);
        return node.id;
    }
    // Names that are no parameters are dimensions.
    void learn(const std::vector<Expression>& shape) {
        auto known = [](const auto& names, const std::string& name) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        std::vector<std::string> parameters;
        for (const Parameter& parameter : problem.parameters) parameters.push_back(parameter.name);
        for (const Expression& extent : shape)
            for (const std::string& name : extent.symbols())
                if (!known(problem.dimensions, name) && !known(parameters, name)) problem.dimensions.push_back(name);
    }
};

}  // namespace strop
