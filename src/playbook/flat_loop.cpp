#include "playbook/flat_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "graph/rewrite.h"

namespace strop::playbook {

namespace {

class Flattener {
public:
    explicit Flattener(const Graph& graph) : graph_(graph) {}

    std::optional<FlatLoop> run() {
        for (const Node& node : graph_.nodes) {
            if (node.loop && first_ && !are_of_one_loop(*first_, node)) return {};
            if (node.loop && !first_ && !take_step(node)) return {};
            places_[node.id] = node.loop ? result(node) : append(moved(node, places_));
        }
        if (!first_) return {};
        for (int id : graph_.outputs) flat_.graph.outputs.push_back(places_.at(id));
        return std::move(flat_);
    }

private:
    int append(Node node) {
        node.id = static_cast<int>(flat_.graph.nodes.size());
        flat_.graph.nodes.push_back(std::move(node));
        return flat_.graph.nodes.back().id;
    }

    static Node moved(Node node, const std::map<int, int>& places) {
        for (int& operand : node.operands) operand = places.at(operand);
        return node;
    }

    int stand_in(const std::string& name, const Shape& shape, DType dtype) {
        Node node;
        node.family = Family::input;
        node.op = name;
        node.shape = shape;
        node.dtype = dtype;
        return append(std::move(node));
    }

    int in_body(int id) {
        flat_.loop.body.push_back(id);
        return id;
    }

    // Through other reshapes. `inside`: of a value that each step makes anew.
    int shaped(int id, const Shape& shape, bool inside) {
        const Graph& graph = flat_.graph;
        while (!(graph.at(id).shape == shape) && graph.at(id).op == "reshape" && graph.at(id).family == Family::layout)
            id = graph.at(id).operands[0];
        if (graph.at(id).shape == shape) return id;
        const int place = append(laid_out(graph.at(id), "reshape", shape));
        return inside ? in_body(place) : place;
    }

    // As a step's values are held: where none of them has more than one axis, that one alone, so that a batch is a row
    // whether it is written as [B] or [B, 1]. A number is a row of one.
    Shape held_shape(const Shape& shape) const {
        Shape result;
        for (const Expression& extent : shape)
            if (!single_axis_ || !extent.is_literal(1)) result.push_back(extent);
        return result.empty() ? Shape{1} : result;
    }

    bool take_step(const Node& node) {
        first_ = &node;
        loop_ = node.loop.get();
        flat_.step = loop_->step;
        flat_.count = loop_->count;
        find_changes();
        const std::vector<Node>& nodes = loop_->body.nodes;
        single_axis_ = std::all_of(nodes.begin(), nodes.end(),
                                   [&](const Node& one) { return !changes_[one.id] || long_axes(one.shape) <= 1; });
        std::vector<int> before;
        for (int k = 0; k < loop_->states; ++k) {
            const Node& first = graph_.at(node.operands[static_cast<size_t>(k)]);
            before.push_back(stand_in(fmt::format("state {}", k), held_shape(first.shape), first.dtype));
        }
        return std::all_of(nodes.begin(), nodes.end(), [&](const Node& one) { return take(one, before); }) &&
               find_carries(before);
    }

    // From step to step.
    void find_changes() {
        for (const Node& one : loop_->body.nodes) {
            const bool state = one.family == Family::input && std::stoi(one.op) < loop_->states;
            changes_[one.id] =
                state || symbols_of(Graph{{one}, {}, ""}).contains(loop_->step) ||
                std::any_of(one.operands.begin(), one.operands.end(), [&](int id) { return changes_[id]; });
        }
    }

    bool take(const Node& one, const std::vector<int>& before) {
        if (one.family == Family::input) {
            const size_t operand = std::stoul(one.op);
            inside_[one.id] = operand < before.size() ? before[operand] : places_.at(first_->operands[operand]);
            return true;
        }
        const bool point = one.family == Family::pointwise;
        if (!point && one.family != Family::contraction && one.family != Family::layout &&
            one.family != Family::constant && one.family != Family::parameter)
            return false;
        if (one.family == Family::layout && one.op == "reshape" && changes_[one.operands[0]]) {
            inside_[one.id] = shaped(inside_.at(one.operands[0]), held_shape(one.shape), true);
            return true;
        }
        Node copy = one;
        for (int& operand : copy.operands) operand = operand_of(one, operand);
        if (!changes_[one.id]) {
            inside_[one.id] = append(std::move(copy));
            return true;
        }
        if (point) copy.shape = held_shape(one.shape);
        const bool reads_outside = one.family == Family::layout && one.op == "slice" && !changes_[one.operands[0]];
        const int place = in_body(append(std::move(copy)));
        if (reads_outside) flat_.loop.moves[place] = {};
        inside_[one.id] = shaped(place, held_shape(one.shape), true);
        return true;
    }

    // Pointwise operations read values as they are held, others as they were.
    int operand_of(const Node& user, int id) {
        const Shape& own = loop_->body.at(id).shape;
        const int place = inside_.at(id);
        if (!changes_[user.id]) return place;
        if (user.family != Family::pointwise) return shaped(place, own, changes_[id]);
        return own.empty() && !changes_[id] ? place : shaped(place, held_shape(own), changes_[id]);
    }

    bool find_carries(const std::vector<int>& before) {
        for (size_t k = 0; k < before.size(); ++k) {
            Recurrence::Carry carry;
            carry.before = before[k];
            const int left = loop_->body.outputs[k], place = inside_.at(left);
            if (!changes_[left] || place == carry.before) return false;
            carry.after = place;
            carry.initial = shaped(places_.at(first_->operands[k]), flat_.graph.at(carry.before).shape, false);
            flat_.loop.carries.push_back(carry);
        }
        for (size_t k = 0; k < loop_->body.outputs.size(); ++k) {
            const int place = inside_.at(loop_->body.outputs[k]);
            const bool made = std::find(flat_.loop.body.begin(), flat_.loop.body.end(), place) != flat_.loop.body.end();
            made_.push_back(made ? place : in_body(append(copied(flat_.graph.at(place), flat_.graph.at(place).dtype))));
        }
        std::sort(flat_.loop.body.begin(), flat_.loop.body.end());
        return !before.empty();
    }

    int result(const Node& node) {
        const int place = stand_in(fmt::format("result {}", node.id), node.shape, node.dtype);
        const size_t k = static_cast<size_t>(node.result);
        if (node.op == "last") flat_.last[place] = flat_.loop.carries[k].before;
        else flat_.stacked[place] = made_[k];
        return place;
    }

    const Graph& graph_;
    FlatLoop flat_;
    const Node* first_ = nullptr;
    const Repeat* loop_ = nullptr;
    bool single_axis_ = false;            // of all values that a step makes
    std::map<int, int> places_, inside_;  // of the graph's nodes and the body's
    std::map<int, bool> changes_;         // of the body: from step to step
    std::vector<int> made_;               // by a step, one for each of the body's outputs
};

}  // namespace

std::optional<FlatLoop> flat_loop(const Graph& graph) { return Flattener(graph).run(); }

}  // namespace strop::playbook
