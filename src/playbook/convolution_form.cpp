#include "playbook/convolution_form.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/pointwise_part.h"

namespace strop::playbook {

namespace {

std::string spell(const Node& node) {
    std::string family = name_of(node.family);
    return node.op.empty() ? family : fmt::format("{} '{}'", family, node.op);
}

class Recogniser {
public:
    Recogniser(const Problem& problem, const Graph& graph) : problem_(problem), graph_(graph) {}

    ConvolutionForm run() {
        std::vector<int> found;
        for (const Node& node : graph_.nodes)
            if (node.family == Family::convolution) found.push_back(node.id);
        form_.found = !found.empty();
        if (found.empty()) return form_;
        if (found.size() > 1) return lack("more than one convolution");
        if (graph_.outputs.size() != 1 || problem_.outputs.size() != 1) return lack("several outputs");
        if (has_halves(problem_)) return lack("a convolution of 16-bit tensors");  // a program converts them before
        form_.node = found[0];
        form_.result = graph_.outputs[0];
        form_.y = problem_.outputs[0].name;
        if (read_extents() && read_names() && check_result()) visit(form_.result);
        return form_;
    }

private:
    ConvolutionForm lack(const std::string& what) {
        if (form_.lacks.empty()) form_.lacks = what;
        return form_;
    }
    bool fail(const std::string& what) {
        lack(what);
        return false;
    }

    bool read_extents() {
        const Node& node = graph_.at(form_.node);
        size_t spatial = node.stride.size();
        if (spatial < 1 || spatial > 3) return fail(fmt::format("convolution over {} axes", spatial));
        const auto& x = graph_.at(node.operands.at(0)).shape;
        const auto& w = graph_.at(node.operands.at(1)).shape;
        bool complete = x.size() == spatial + 2 && w.size() == spatial + 2 && node.shape.size() == spatial + 2 &&
                        node.padding.size() == spatial && node.dilation.size() == spatial;
        if (!complete) return fail("convolution of operands of other ranks");
        form_.images = x[0];
        form_.channels = x[1];
        form_.filters = w[0];
        form_.groups = node.groups;
        form_.volumes = spatial == 3;
        for (size_t lacking = spatial; lacking < 3; ++lacking) {
            for (auto* extent : {&form_.image, &form_.kernel, &form_.out, &form_.stride, &form_.dilation})
                extent->push_back(1);
            form_.padding.push_back(0);
        }
        auto append = [&](std::vector<Expression>& to, const std::vector<Expression>& from, size_t first) {
            to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(first), from.end());
        };
        append(form_.image, x, 2);
        append(form_.kernel, w, 2);
        append(form_.out, node.shape, 2);
        append(form_.stride, node.stride, 0);
        append(form_.padding, node.padding, 0);
        append(form_.dilation, node.dilation, 0);
        return true;
    }

    bool read_names() {
        const Node& node = graph_.at(form_.node);
        const Node* x = input_behind(graph_, node.operands[0]);
        const Node* w = input_behind(graph_, node.operands[1]);
        if (!x || !w) {
            const Node& computed = graph_.at(node.operands[x ? 1 : 0]);
            return fail(fmt::format("{} before a convolution", spell(computed)));
        }
        if (x->dtype != DType::float32 || w->dtype != DType::float32 || node.dtype != DType::float32)
            return fail(fmt::format("convolution of {}", name_of(x->dtype)));
        form_.x = x->op;
        form_.w = w->op;
        return true;
    }

    // The epilogue must keep the convolution's shape: an operand may not broadcast it to more.
    bool check_result() {
        const Node& node = graph_.at(form_.node);
        const Node& result = graph_.at(form_.result);
        bool same = result.shape.size() == node.shape.size();
        for (size_t axis = 0; same && axis < node.shape.size(); ++axis)
            same = node.shape[axis].is_literal(1) == result.shape[axis].is_literal(1);
        if (!same) return fail(fmt::format("{} that changes the convolution's shape", spell(result)));
        if (result.dtype != DType::float32) return fail(fmt::format("{} result", name_of(result.dtype)));
        return true;
    }

    void visit(int id) {
        if (id == form_.node || !seen_.insert(id).second) return;
        const Node& node = graph_.at(id);
        if (const Node* input = input_behind(graph_, id)) {
            add_operand(id, *input);
        } else if (node.family == Family::pointwise) {
            for (int operand : node.operands) visit(operand);
        } else if (node.family == Family::parameter) {
            form_.scalars.insert(node.op);
        } else if (node.family == Family::constant) {
            if (node.dim) form_.scalars.merge(node.dim->symbols());
        } else {
            lack(fmt::format("{} after a convolution", spell(node)));
        }
    }

    void add_operand(int id, const Node& input) {
        const std::vector<Expression>& result = graph_.at(form_.node).shape;
        std::vector<Expression> shape = graph_.at(id).shape;
        if (input.dtype != DType::float32)
            return static_cast<void>(
                lack(fmt::format("{} operand '{}' after a convolution", name_of(input.dtype), input.op)));
        if (shape.size() > result.size())
            return static_cast<void>(lack(fmt::format("operand '{}' of more axes than the convolution", input.op)));
        shape.insert(shape.begin(), result.size() - shape.size(), Expression(1));
        size_t constant = 0, varying = 0;
        for (size_t axis = 2; axis < result.size(); ++axis) {
            if (result[axis].is_literal(1)) continue;
            ++(shape[axis].is_literal(1) ? constant : varying);
        }
        if (constant && varying)
            return static_cast<void>(
                lack(fmt::format("operand '{}' that differs along one spatial axis only", input.op)));
        form_.operands.push_back({id, input.op, !shape[0].is_literal(1), !shape[1].is_literal(1), varying > 0});
    }

    const Problem& problem_;
    const Graph& graph_;
    ConvolutionForm form_;
    std::set<int> seen_;
};

}  // namespace

ConvolutionForm recognise_convolution(const Problem& problem, const Graph& graph) {
    return Recogniser(problem, graph).run();
}

bool varies_by_pixel(const Graph& graph, const ConvolutionForm& form, int id) {
    if (id == form.node) return true;
    for (const EpilogueOperand& operand : form.operands)
        if (operand.node == id) return operand.per_pixel;
    const std::vector<int>& operands = graph.at(id).operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](int operand) { return varies_by_pixel(graph, form, operand); });
}

}  // namespace strop::playbook
