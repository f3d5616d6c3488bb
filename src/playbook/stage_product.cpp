// Products and convolutions with what follows them, in tiles that blocks compute together.
#include <algorithm>

#include <fmt/format.h>

#include "playbook/launch_builder.h"
#include "playbook/stage_parts.h"

namespace strop::playbook {

using namespace schedule;

namespace {

Expression symbol(const std::string& name) { return Expression::symbol(name); }

const Node* only_product(const Graph& graph) {
    const Node* found = nullptr;
    for (const Node& node : graph.nodes) {
        if (node.family == Family::reduction || node.family == Family::scan) return nullptr;
        if (node.family != Family::contraction && node.family != Family::convolution) continue;
        if (found) return nullptr;
        found = &node;
    }
    return found;
}

// C[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]; several axes may stand together for one of
// them.
class TileLaunch {
public:
    TileLaunch(const Problem& problem, const Graph& graph, const Node& node, const std::string& name)
        : graph_(graph),
          node_(node),
          builder_(problem, graph, name, Share::tiles) {}

    std::optional<Launch> build() {
        const bool known = node_.family == Family::contraction ? contraction() : convolution();
        if (!known) return std::nullopt;
        StoreStep stores;
        builder_.terms.know(node_.id, out_, name_);
        for (size_t k = 0; k < graph_.outputs.size(); ++k) {
            if (graph_.at(graph_.outputs[k]).shape != node_.shape) return std::nullopt;
            stores.stores.push_back(builder_.output(k, out_));
        }
        builder_.step({}, std::move(stores));
        if (!builder_.terms.lacks().empty()) return std::nullopt;
        return std::move(builder_.launch);
    }

private:
    // One axis for all of these labels; where each is on it.
    Axis together(const std::string& name, const std::string& labels, const ContractionAxes& axes,
                  std::map<char, Expression>& at) {
        std::vector<Expression> extents;
        for (char label : labels) extents.push_back(axes.extent.at(label));
        const Axis axis = builder_.axis(name, product_of(extents));
        const Index index = unflattened(symbol(axis.name), extents);
        for (size_t i = 0; i < labels.size(); ++i) at[labels[i]] = index[i];
        return axis;
    }

    bool contraction() {
        const ContractionAxes axes(graph_, node_);
        std::string batch, sides[2];
        for (char label : node_.labels[2]) {
            const bool left = node_.labels[0].find(label) != std::string::npos,
                       right = node_.labels[1].find(label) != std::string::npos;
            (left && right ? batch : sides[left ? 0 : 1]) += label;
        }
        for (char label : axes.summed)
            for (size_t side = 0; side < 2; ++side)
                if (node_.labels[side].find(label) == std::string::npos) return false;
        // The result's last axis is shared out along memory.
        const char last = node_.labels[2].empty() ? ' ' : node_.labels[2].back();
        const size_t m_side = sides[0].find(last) != std::string::npos ? 1 : 0;
        std::map<char, Expression> at;
        for (char label : batch) builder_.launch.grid.push_back(together("b", std::string(1, label), axes, at));
        const Axis m = together("m", sides[m_side], axes, at), n = together("n", sides[1 - m_side], axes, at);
        const Axis k = together("k", axes.summed, axes, at);
        builder_.launch.grid.push_back(m);
        builder_.launch.grid.push_back(n);
        for (char label : node_.labels[2])
            out_.push_back(axes.extent.at(label).is_literal(1) ? Expression(0) : at.at(label));
        int operands[2];
        for (size_t side = 0; side < 2; ++side)
            operands[side] = builder_.terms.at(node_.operands[side], axes.index(side, at));
        name_ = builder_.fresh("product");
        builder_.step({k}, DotStep{name_, node_.dtype, operands[m_side], operands[1 - m_side]});
        return true;
    }

    // As a product without copies: filters x (channels and taps) x places, one for each image and group.
    bool convolution() {
        const Node& w = graph_.at(node_.operands[1]);
        const std::vector<Expression> places(node_.shape.begin() + 2, node_.shape.end()),
            taps(w.shape.begin() + 1, w.shape.end());
        const Expression filters = Expression::floor_divide(node_.shape[1], node_.groups);
        const bool grouped = !node_.groups.is_literal(1);
        const Axis image = builder_.axis("image", node_.shape[0]), group = builder_.axis("group", node_.groups);
        const Axis m = builder_.axis("m", filters), n = builder_.axis("n", product_of(places)),
                   k = builder_.axis("k", product_of(taps));
        builder_.launch.grid = {image};
        if (grouped) builder_.launch.grid.push_back(group);
        builder_.launch.grid.push_back(m);
        builder_.launch.grid.push_back(n);
        const Expression in_group = grouped ? symbol(group.name) : Expression(0);
        out_ = {node_.shape[0].is_literal(1) ? Expression(0) : symbol(image.name), in_group * filters + symbol(m.name)};
        const Index place = unflattened(symbol(n.name), places), tap = unflattened(symbol(k.name), taps);
        out_.insert(out_.end(), place.begin(), place.end());
        Index with = {out_[1]};
        with.insert(with.end(), tap.begin(), tap.end());
        name_ = builder_.fresh("sum");
        const int element = convolved_element(graph_, node_, builder_.terms, out_, in_group, tap);
        builder_.step({k}, DotStep{name_, node_.dtype, builder_.terms.at(w.id, with), element});
        return true;
    }

    const Graph& graph_;
    const Node& node_;
    LaunchBuilder builder_;
    Index out_;
    std::string name_;
};

}  // namespace

std::vector<StageSchedule> schedule_product(const Problem& problem, const Graph& graph, const std::string& prefix) {
    const Node* node = only_product(graph);
    if (!node || !is_floating(node->dtype)) return {};
    std::vector<StageSchedule> result;
    if (std::optional<Launch> tiles = TileLaunch(problem, graph, *node, prefix).build()) {
        StageSchedule one{
            "tiles",   "a block loads pieces of both operands into its memory and computes a tile from them",
            "compute", 0.7,
            {},        {},
            {},        {}};
        one.launches = {std::move(*tiles)};
        result.push_back(std::move(one));
    }
    if (graph.outputs.size() != 1) return result;
    if (std::optional<Launch> elements = output_launch(problem, graph, 0, prefix)) {
        StageSchedule one{
            "thread_per_element", "each thread computes one element, from caches", "memory", 0.3, {}, {}, {}, {}};
        one.launches = {std::move(*elements)};
        result.push_back(std::move(one));
    }
    return result;
}

}  // namespace strop::playbook
