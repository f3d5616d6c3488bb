// A launch for one output, whatever it is: a thread per element.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "playbook/launch_builder.h"
#include "playbook/stage_parts.h"

namespace strop::playbook {

using namespace schedule;

namespace {

Expression symbol(const std::string& name) { return Expression::symbol(name); }

class OutputLaunch {
public:
    OutputLaunch(const Problem& problem, const Graph& graph, size_t output, const std::string& name)
        : graph_(graph),
          builder_(problem, graph, name, Share::threads),
          output_(output),
          node_(graph.at(structure(graph, output))),
          shape_(graph.at(graph.outputs[output]).shape) {}

    std::optional<Launch> build() {
        switch (node_.family) {
            case Family::reduction: reduction(); break;
            case Family::scan: scan(); break;
            case Family::contraction: contraction(); break;
            case Family::convolution: convolution(); break;
            default: finish(builder_.flat_grid(shape_)); break;
        }
        if (!builder_.terms.lacks().empty()) return std::nullopt;
        return std::move(builder_.launch);
    }

private:
    // The one node that is more than a term: the output itself, or what it is computed from element by
    // element.
    static int structure(const Graph& graph, size_t output) {
        for (int id = graph.outputs[output];;) {
            const Node& node = graph.at(id);
            const int last = graph.outputs[output];
            if (node.family != Family::pointwise)
                return node.family == Family::contraction || node.family == Family::convolution ? id : last;
            int next = -1;
            for (int operand : node.operands)
                if (graph.at(operand).shape == node.shape && graph.at(operand).family != Family::input)
                    next = std::max(next, operand);
            if (next < 0) return last;
            id = next;
        }
    }

    void finish(const Index& index) { builder_.step({}, StoreStep{{builder_.output(output_, index)}}); }

    void finish(const Index& index, const std::vector<Axis>& inner, Fold fold) {
        builder_.terms.know(node_.id, index, LaunchBuilder::result_of(node_, fold));
        builder_.step(inner, FoldStep{{std::move(fold)}});
        finish(index);
    }

    void reduction() {
        const Index kept = builder_.flat_grid(shape_);
        const std::vector<Expression>& full = graph_.at(node_.operands[0]).shape;
        Index index(full.size());
        std::vector<Axis> inner;
        Expression place = 0;
        size_t next = 0;
        for (size_t a = 0; a < full.size(); ++a) {
            if (std::find(node_.axes.begin(), node_.axes.end(), static_cast<int>(a)) == node_.axes.end()) {
                index[a] = kept[next++];
                continue;
            }
            inner.push_back(builder_.axis("j", full[a]));
            index[a] = symbol(inner.back().name);
            place = place * full[a] + index[a];
            next += node_.keepdims;
        }
        finish(kept, inner, builder_.fold(node_, builder_.element(node_, index, place)));
    }

    void scan() {
        std::vector<Expression> others = shape_;
        const auto along = static_cast<std::ptrdiff_t>(node_.axes[0]);
        others.erase(others.begin() + along);
        Index index = builder_.flat_grid(others);
        builder_.terms.flatten(0, {});
        const Axis axis = builder_.axis("j", shape_[static_cast<size_t>(along)]);
        index.insert(index.begin() + along, symbol(axis.name));
        ScanStep step{builder_.fresh("running"),
                      fold_law(node_.op, node_.dtype),
                      builder_.terms.at(node_.operands[0], index),
                      {}};
        builder_.terms.know(node_.id, index, step.name);
        step.stores = {builder_.output(output_, index)};
        builder_.step({axis}, std::move(step));
    }

    int product(int a, int b) { return builder_.terms.pointwise("multiply", {a, b}, node_.dtype); }
    Fold sum(int element) {
        Fold fold{{builder_.fresh("sum")}, fold_law("sum", node_.dtype), {element}};
        return fold;
    }

    void contraction() {
        const Index out = builder_.flat_grid(shape_);
        const ContractionAxes axes(graph_, node_);
        std::map<char, Expression> at;
        for (size_t a = 0; a < out.size(); ++a) at[node_.labels[2][a]] = out[a];
        std::vector<Axis> inner;
        for (char label : axes.summed) {
            inner.push_back(builder_.axis("j", axes.extent.at(label)));
            at[label] = symbol(inner.back().name);
        }
        finish(out, inner,
               sum(product(builder_.terms.at(node_.operands[0], axes.index(0, at)),
                           builder_.terms.at(node_.operands[1], axes.index(1, at)))));
    }

    void convolution() {
        const Index out = builder_.flat_grid(shape_);
        const Node& w = graph_.at(node_.operands[1]);
        std::vector<Axis> inner;
        Index tap;
        for (size_t a = 1; a < w.shape.size(); ++a) {
            inner.push_back(builder_.axis("j", w.shape[a]));
            tap.push_back(symbol(inner.back().name));
        }
        Index with = {out[1]};
        with.insert(with.end(), tap.begin(), tap.end());
        const Expression group =
            Expression::floor_divide(out[1], Expression::floor_divide(node_.shape[1], node_.groups));
        const int element = convolved_element(graph_, node_, builder_.terms, out,
                                              node_.groups.is_literal(1) ? Expression(0) : group, tap);
        finish(out, inner, sum(product(element, builder_.terms.at(w.id, with))));
    }

    const Graph& graph_;
    LaunchBuilder builder_;
    size_t output_;
    const Node& node_;
    const std::vector<Expression>& shape_;
};

}  // namespace

ContractionAxes::ContractionAxes(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
    for (size_t side = 0; side < 2; ++side) {
        const std::vector<Expression>& shape = graph.at(node.operands[side]).shape;
        for (size_t a = 0; a < shape.size(); ++a) {
            const char label = node.labels[side][a];
            auto [known, added] = extent.emplace(label, shape[a]);
            if (!added && known->second.is_literal(1)) known->second = shape[a];
            if (added && node.labels[2].find(label) == std::string::npos) summed.push_back(label);
        }
    }
}

Index ContractionAxes::index(size_t side, const std::map<char, Expression>& at) const {
    const std::vector<Expression>& shape = graph_.at(node_.operands[side]).shape;
    Index index;
    for (size_t a = 0; a < shape.size(); ++a)
        index.push_back(shape[a].is_literal(1) ? Expression(0) : at.at(node_.labels[side][a]));
    return index;
}

int convolved_element(const Graph& graph, const Node& node, GraphTerms& terms, const Index& out,
                      const Expression& group, const Index& tap) {
    const Node& x = graph.at(node.operands[0]);
    const Node& w = graph.at(node.operands[1]);
    Index from = {out[0], group * w.shape[1] + tap[0]};
    std::string inside;
    for (size_t s = 0; s < node.stride.size(); ++s) {
        const Expression place = out[s + 2] * node.stride[s] + tap[s + 1] * node.dilation[s] - node.padding[s];
        from.push_back(place);
        if (node.padding[s].is_literal(0)) continue;
        inside += fmt::format("{}({}) >= 0 and ({}) < ({})", inside.empty() ? "" : " and ", place.text(), place.text(),
                              x.shape[s + 2].text());
    }
    const int element = terms.at(x.id, from);
    return inside.empty() ? element : terms.guarded(Expression::parse(inside), element, terms.number(0, node.dtype));
}

std::optional<Launch> output_launch(const Problem& problem, const Graph& graph, size_t output,
                                    const std::string& name) {
    return OutputLaunch(problem, graph, output, name).build();
}

}  // namespace strop::playbook
