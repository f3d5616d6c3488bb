#include "playbook/flat_loop.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

    int stand_in(const std::string& name, const std::vector<Expression>& shape, DType dtype) {
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

    int shaped(int id, const std::vector<Expression>& shape) {
        Node view;
        view.family = Family::layout;
        view.op = "reshape";
        view.operands = {id};
        view.shape = shape;
        view.dtype = flat_.graph.at(id).dtype;
        return append(std::move(view));
    }

    // A number is a row of one.
    static std::vector<Expression> as_row(const std::vector<Expression>& shape) {
        return shape.empty() ? std::vector<Expression>{1} : shape;
    }
    int as_row(int id) { return flat_.graph.at(id).shape.empty() ? in_body(shaped(id, {1})) : id; }

    bool take_step(const Node& node) {
        first_ = &node;
        loop_ = node.loop.get();
        flat_.step = loop_->step;
        flat_.count = loop_->count;
        std::vector<int> before;
        for (int k = 0; k < loop_->states; ++k) {
            const Node& first = graph_.at(node.operands[static_cast<size_t>(k)]);
            before.push_back(stand_in(fmt::format("state {}", k), as_row(first.shape), first.dtype));
        }
        for (const Node& one : loop_->body.nodes)
            if (!take(one, before)) return false;
        return find_carries(before);
    }

    bool take(const Node& one, const std::vector<int>& before) {
        const bool is_plain = one.family == Family::pointwise || one.family == Family::contraction ||
                              one.family == Family::layout || one.family == Family::constant ||
                              one.family == Family::parameter || one.family == Family::input;
        if (!is_plain) return false;
        if (one.family == Family::input) {
            const size_t operand = std::stoul(one.op);
            const bool state = operand < before.size();
            int place = state ? before[operand] : places_.at(first_->operands[operand]);
            if (state && one.shape.empty()) place = in_body(shaped(place, {}));
            inside_[one.id] = place;
            changes_[one.id] = state;
            return true;
        }
        const Graph alone{{one}, {}, ""};
        changes_[one.id] = symbols_of(alone).contains(loop_->step) ||
                           std::any_of(one.operands.begin(), one.operands.end(), [&](int id) { return changes_[id]; });
        const int place = inside_[one.id] = append(moved(one, inside_));
        if (!changes_[one.id]) return true;
        in_body(place);
        if (one.op == "slice" && one.family == Family::layout && !changes_[one.operands[0]])
            flat_.loop.moves[place] = {};
        return true;
    }

    bool find_carries(const std::vector<int>& before) {
        for (size_t k = 0; k < before.size(); ++k) {
            Recurrence::Carry carry;
            carry.before = before[k];
            const int left = loop_->body.outputs[k], place = inside_.at(left);
            const auto other = std::find(before.begin(), before.end(), place);
            if (!changes_[left] || place == carry.before) return false;
            carry.after = other == before.end() ? as_row(place) : place;
            const int first = places_.at(first_->operands[k]);
            carry.initial = flat_.graph.at(first).shape.empty() ? shaped(first, {1}) : first;
            flat_.loop.carries.push_back(carry);
        }
        for (size_t k = 0; k < loop_->body.outputs.size(); ++k) {
            int place = inside_.at(loop_->body.outputs[k]);
            const bool made = std::find(flat_.loop.body.begin(), flat_.loop.body.end(), place) != flat_.loop.body.end();
            if (!made) place = in_body(copy_of(place));
            made_.push_back(as_row(place));
        }
        std::sort(flat_.loop.body.begin(), flat_.loop.body.end());
        return !before.empty();
    }

    int copy_of(int id) {
        Node copy;
        copy.family = Family::pointwise;
        copy.op = "cast";
        copy.operands = {id};
        copy.shape = flat_.graph.at(id).shape;
        copy.dtype = flat_.graph.at(id).dtype;
        return append(std::move(copy));
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
    std::map<int, int> places_, inside_;  // of the graph's nodes and the body's
    std::map<int, bool> changes_;         // of the body: from step to step
    std::vector<int> made_;               // by a step, one for each of the body's outputs
};

}  // namespace

std::optional<FlatLoop> flat_loop(const Graph& graph) { return Flattener(graph).run(); }

}  // namespace strop::playbook
