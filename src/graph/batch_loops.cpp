#include "graph/batch_loops.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "graph/rewrite.h"

namespace strop {

namespace {

// a * step + base.
struct Linear {
    int64_t a = 0;
    Expression base;
};
std::optional<Linear> linear_in(const Expression& expression, const std::string& step) {
    const auto at = [&](const Expression& place) { return expression.substitute({{step, place}}); };
    Linear result{0, at(0)};
    Bindings some;
    for (const std::string& name : expression.symbols())
        if (name != step) some[name] = int64_t{1009};
    try {
        result.a = at(1).evaluate_integer(some) - at(0).evaluate_integer(some);
    } catch (const std::exception&) {
        return {};
    }
    const Expression whole = Expression(result.a) * Expression::symbol(step) + result.base;
    if (!same_value(whole, expression)) return {};
    return result;
}

bool mentions(const Expression& expression, const std::string& step) { return expression.symbols().contains(step); }

std::vector<Expression> with_front(const Expression& front, std::vector<Expression> rest) {
    rest.insert(rest.begin(), front);
    return rest;
}

// Takes the nodes of a loop's body for all steps at a time: what changes with the step has them as its first axis.
class Batcher {
public:
    struct Value {
        int id = 0;
        bool batched = false;
    };

    Batcher(const Graph& body, const std::string& step, const Expression& count, GraphWriter& out)
        : body_(body),
          step_(step),
          count_(count),
          out_(out) {}

    void set(int id, Value value) { values_[id] = value; }
    bool knows(int id) const { return values_.contains(id); }
    const Value& at(int id) const { return values_.at(id); }

    // False where a node cannot have a further axis.
    bool take(const Node& node) {
        std::optional<Value> value = value_of(node);
        if (!value) return false;
        values_[node.id] = *value;
        return true;
    }

    // With the steps as its first axis, whether it changes with them or not.
    int batched(int id) {
        const Value& value = values_.at(id);
        return value.batched ? value.id : broadcast_to(value.id, with_front(count_, body_.at(id).shape));
    }

private:
    const Shape& own_shape(int id) const { return body_.at(id).shape; }

    bool any_batched(const Node& node) const {
        return std::any_of(node.operands.begin(), node.operands.end(), [&](int id) { return at(id).batched; });
    }

    bool reads_step(const Node& node) const {
        const auto has = [&](const std::vector<Expression>& list) {
            return std::any_of(list.begin(), list.end(), [&](const Expression& one) { return mentions(one, step_); });
        };
        return has(node.begin) || has(node.end) || has(node.step) || has(node.window) ||
               (node.dim && mentions(*node.dim, step_));
    }

    std::optional<Value> value_of(const Node& node) {
        if (node.loop) return of_loop(node);
        const bool step = reads_step(node);
        if (!step && !any_batched(node)) {
            Node same = node;
            for (int& operand : same.operands) operand = at(operand).id;
            return Value{out_.add(std::move(same)), false};
        }
        if (step && node.family == Family::constant) return of_step(node);
        if (step && node.op == "slice" && !at(node.operands[0]).batched) return of_slice(node);
        if (step) return {};
        const std::optional<int> id = with_axis(node);
        if (!id) return {};
        return Value{*id, true};
    }

    int broadcast_to(int id, const Shape& shape) {
        if (out_.at(id).shape == shape) return id;
        return out_.add(laid_out(out_.at(id), "broadcast", shape));
    }

    // With axes of extent 1 behind the first, so that the others stand where they belong in a value of this rank.
    int aligned(int operand, size_t rank) {
        const Value& value = at(operand);
        if (!value.batched || own_shape(operand).size() == rank) return value.id;
        Shape shape(rank - own_shape(operand).size(), 1);
        shape.insert(shape.end(), own_shape(operand).begin(), own_shape(operand).end());
        return out_.reshape(value.id, with_front(count_, shape));
    }

    std::optional<int> with_axis(const Node& node) {
        Node copy = node;
        copy.shape = with_front(count_, node.shape);
        for (int& axis : copy.axes) ++axis;
        switch (node.family) {
            case Family::pointwise:
                for (int& operand : copy.operands) operand = aligned(operand, node.shape.size());
                break;
            case Family::reduction:
            case Family::scan: copy.operands[0] = at(node.operands[0]).id; break;
            case Family::contraction: add_label(copy, node); break;
            case Family::layout:
                if (!lay_out(copy, node)) return {};
                break;
            case Family::gather:
                if (!gather(copy, node)) return {};
                break;
            case Family::scatter:
                for (int& operand : copy.operands) operand = batched(operand);
                break;
            default: return {};
        }
        return out_.add(std::move(copy));
    }

    void add_label(Node& copy, const Node& node) const {
        char letter = 'a';
        while (std::any_of(node.labels.begin(), node.labels.end(),
                           [&](const std::string& one) { return one.find(letter) != std::string::npos; }))
            ++letter;
        for (size_t side = 0; side < 2; ++side) {
            copy.operands[side] = at(node.operands[side]).id;
            if (at(node.operands[side]).batched) copy.labels[side].insert(0, 1, letter);
        }
        copy.labels[2].insert(0, 1, letter);
    }

    bool lay_out(Node& copy, const Node& node) {
        copy.operands[0] = at(node.operands[0]).id;
        if (node.op == "transpose") {
            copy.axes.insert(copy.axes.begin(), 0);
        } else if (node.op == "broadcast") {
            copy.operands[0] = aligned(node.operands[0], node.shape.size());
        } else if (node.op == "slice") {
            copy.begin = with_front(0, node.begin);
            copy.end = with_front(count_, node.end);
            copy.step = with_front(1, node.step);
        } else if (node.op == "pad") {
            copy.begin = with_front(0, node.begin);
            copy.end = with_front(0, node.end);
        } else if (node.op == "concatenate") {
            for (size_t k = 0; k < node.operands.size(); ++k) copy.operands[k] = batched(node.operands[k]);
        } else {
            return node.op == "reshape" || node.op == "reverse" || node.op == "window";
        }
        return true;
    }

    bool gather(Node& copy, const Node& node) {
        const Value &source = at(node.operands[0]), &indices = at(node.operands[1]);
        copy.operands = {source.id, indices.id};
        if (node.op == "take_along") {
            copy.operands = {batched(node.operands[0]), batched(node.operands[1])};
            return true;
        }
        if (source.batched) return !indices.batched;
        copy.axes = node.axes;  // the indices' axes stand in its place
        return node.axes[0] == 0;
    }

    // The number of the step, or what follows from it.
    std::optional<Value> of_step(const Node& node) {
        const std::optional<Linear> number = linear_in(*node.dim, step_);
        if (!number) return {};
        Node steps;
        steps.family = Family::iota;
        steps.axes = {0};
        steps.shape = {count_};
        steps.dtype = DType::int64;
        int id = out_.add(std::move(steps));
        const auto combined = [&](const std::string& op, Node other) {
            other.family = Family::constant;
            other.dtype = DType::int64;
            id = out_.pointwise(op, {id, out_.add(std::move(other))}, DType::int64);
        };
        Node factor, first;
        factor.value = static_cast<double>(number->a);
        first.dim = number->base;
        if (number->a != 1) combined("multiply", std::move(factor));
        if (!number->base.is_literal(0)) combined("add", std::move(first));
        if (node.dtype != DType::int64) id = out_.pointwise("cast", {id}, node.dtype);
        return Value{id, true};
    }

    // What is another part of one value in each step.
    std::optional<Value> of_slice(const Node& node) {
        std::optional<size_t> axis;
        for (size_t k = 0; k < node.begin.size(); ++k) {
            if (!mentions(node.begin[k], step_) && !mentions(node.end[k], step_)) continue;
            if (axis || !node.step[k].is_literal(1)) return {};
            axis = k;
        }
        if (!axis) return {};
        const std::optional<Linear> begin = linear_in(node.begin[*axis], step_);
        const Expression& length = node.shape[*axis];
        if (!begin) return {};
        const bool backwards = begin->a == -1 && length.is_literal(1), apart = length.is_literal(begin->a);
        if (begin->a != 1 && !backwards && !apart) return {};
        Node all = node;
        const Expression extent = apart                  ? count_ * length
                                  : length.is_literal(1) ? count_
                                                         : count_ + length - Expression(1);
        all.operands[0] = at(node.operands[0]).id;
        all.begin[*axis] = backwards ? begin->base - (count_ - Expression(1)) : begin->base;
        all.end[*axis] = all.begin[*axis] + extent;
        all.shape[*axis] = extent;
        int id = out_.add(all);
        if (backwards) id = along(id, "reverse", *axis, all.shape);
        return Value{apart || length.is_literal(1) ? cut(id, *axis, node.shape) : windows(id, *axis, node.shape), true};
    }

    int along(int id, const std::string& op, size_t axis, const Shape& shape,
              const std::vector<Expression>& window = {}) {
        Node node = laid_out(out_.at(id), op, shape);
        node.axes = {static_cast<int>(axis)};
        node.window = window;
        return out_.add(std::move(node));
    }

    // Pieces side by side along the axis.
    int cut(int id, size_t axis, const Shape& piece) {
        Shape shape = piece;
        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), count_);
        return to_front(out_.reshape(id, shape), axis);
    }

    // Pieces that begin one after the other.
    int windows(int id, size_t axis, const Shape& piece) {
        Shape shape = piece;
        shape[axis] = count_;
        shape.push_back(piece[axis]);
        id = along(id, "window", axis, shape, {piece[axis]});
        std::vector<int> order = {static_cast<int>(axis)};
        for (size_t k = 0; k < piece.size(); ++k) order.push_back(static_cast<int>(k == axis ? piece.size() : k));
        return out_.transpose(id, order);
    }

    int to_front(int id, size_t axis) {
        std::vector<int> order(out_.at(id).shape.size());
        std::iota(order.begin(), order.end(), 0);
        order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
        order.insert(order.begin(), static_cast<int>(axis));
        return out_.transpose(id, order);
    }

    // ---- loops within the loop -----------------------------------------------------------------------------

    struct Inner {
        std::shared_ptr<const Repeat> loop;
        std::vector<int> operands;
        std::vector<bool> stacked;  // by the body's outputs: whether their values have the steps as an axis
    };

    std::optional<Value> of_loop(const Node& node) {
        const LoopKey key = loop_of(node);
        auto known = inner_.find(key);
        if (known == inner_.end()) {
            std::optional<Inner> made = inner_loop(node);
            if (!made) return {};
            known = inner_.emplace(key, std::move(*made)).first;
        }
        const Inner& inner = known->second;
        const bool with_steps = inner.stacked[static_cast<size_t>(node.result)];
        Node copy = node;
        copy.loop = inner.loop;
        copy.operands = inner.operands;
        const bool stack = node.op == "stack";
        if (with_steps) copy.shape.insert(copy.shape.begin() + (stack ? 1 : 0), count_);
        const int id = out_.add(std::move(copy));
        return Value{with_steps && stack ? to_front(id, 1) : id, with_steps};
    }

    // Takes a step of all outer steps at a time; all its states have them as an axis.
    std::optional<Inner> inner_loop(const Node& node) {
        const Repeat& loop = *node.loop;
        if (mentions(loop.count, step_)) return {};
        const size_t states = static_cast<size_t>(loop.states);
        if (!symbols_of(loop.body).contains(step_) && !any_batched(node)) {
            Inner same{node.loop, {}, std::vector<bool>(loop.body.outputs.size(), false)};
            for (int operand : node.operands) same.operands.push_back(at(operand).id);
            return same;
        }
        Inner inner;
        GraphWriter writer;
        Batcher body(loop.body, step_, count_, writer);
        for (size_t k = 0; k < node.operands.size(); ++k)
            inner.operands.push_back(k < states ? batched(node.operands[k]) : at(node.operands[k]).id);
        for (const Node& one : loop.body.nodes) {
            if (one.family != Family::input) {
                if (!body.take(one)) return {};
                continue;
            }
            const size_t operand = std::stoul(one.op);
            Node input = one;
            const bool has_steps = operand < states || at(node.operands[operand]).batched;
            if (has_steps) input.shape = with_front(count_, one.shape);
            body.set(one.id, {writer.add(std::move(input)), has_steps});
        }
        std::vector<int> outputs;
        for (size_t k = 0; k < loop.body.outputs.size(); ++k) {
            const int id = loop.body.outputs[k];
            const bool has_steps = k < states || body.at(id).batched;
            outputs.push_back(has_steps ? body.batched(id) : body.at(id).id);
            inner.stacked.push_back(has_steps);
        }
        inner.loop = std::make_shared<const Repeat>(Repeat{writer.finish(outputs), loop.step, loop.count, loop.states});
        return inner;
    }

    const Graph& body_;
    const std::string step_;
    const Expression count_;
    GraphWriter& out_;
    std::map<int, Value> values_;
    std::map<LoopKey, Inner> inner_;
};

class Rewriter {
public:
    Rewriter(const Graph& graph, Products products) : graph_(graph), products_(products) {}

    Graph run() {
        for (const Node& node : graph_.nodes) places_.push_back(node.loop ? result(node) : copied(node));
        std::vector<int> outputs;
        for (int id : graph_.outputs) outputs.push_back(places_[static_cast<size_t>(id)]);
        return out_.finish(outputs);
    }

private:
    int place(int id) const { return places_[static_cast<size_t>(id)]; }

    int copied(Node node) {
        for (int& operand : node.operands) operand = place(operand);
        return out_.add(std::move(node));
    }

    struct Loop {
        std::vector<int> values;             // of a loop without states: by the body's outputs
        std::shared_ptr<const Repeat> loop;  // else
        std::vector<int> operands;
    };

    int result(const Node& node) {
        const LoopKey key = loop_of(node);
        auto known = loops_.find(key);
        if (known == loops_.end()) known = loops_.emplace(key, rewritten(node)).first;
        const Loop& loop = known->second;
        if (!loop.values.empty()) return loop.values[static_cast<size_t>(node.result)];
        Node copy = node;
        copy.loop = loop.loop;
        copy.operands = loop.operands;
        return out_.add(std::move(copy));
    }

    Loop rewritten(const Node& node) {
        const Graph body = batched_loops(node.loop->body, products_);  // the loops within it
        if (node.loop->states > 0) return with_products_before(node, body);
        Batcher steps = batcher(node, body);
        const bool whole = std::all_of(body.nodes.begin(), body.nodes.end(),
                                       [&](const Node& one) { return steps.knows(one.id) || steps.take(one); });
        if (!whole) return with_products_before(node, body);
        Loop result;
        for (int id : body.outputs) result.values.push_back(steps.batched(id));
        return result;
    }

    Batcher batcher(const Node& node, const Graph& body) {
        Batcher steps(body, node.loop->step, node.loop->count, out_);
        for (const Node& one : body.nodes)
            if (one.family == Family::input) steps.set(one.id, {place(node.operands[std::stoul(one.op)]), false});
        return steps;
    }

    // Products of what is known before the loop begins are made there, of all steps at a time, and read step by step.
    Loop with_products_before(const Node& node, const Graph& body) {
        const Repeat& loop = *node.loop;
        Loop result;
        for (int operand : node.operands) result.operands.push_back(place(operand));
        std::set<int> of_state;
        GraphWriter inside;
        std::vector<int> places;
        Batcher steps = batcher(node, body);
        for (const Node& one : body.nodes) {
            const bool state = one.family == Family::input && std::stoi(one.op) < loop.states;
            if (state ||
                std::any_of(one.operands.begin(), one.operands.end(), [&](int id) { return of_state.contains(id); }))
                of_state.insert(one.id);
            if (products_ == Products::before_loops && one.family == Family::contraction &&
                !of_state.contains(one.id) && take_with_operands(body, one.id, steps) && steps.at(one.id).batched) {
                places.push_back(read_in_step(steps.at(one.id).id, loop.step, one, inside, result));
                continue;
            }
            Node copy = one;
            for (int& operand : copy.operands) operand = places[static_cast<size_t>(operand)];
            places.push_back(inside.add(std::move(copy)));
        }
        std::vector<int> outputs;
        for (int id : body.outputs) outputs.push_back(places[static_cast<size_t>(id)]);
        result.loop =
            std::make_shared<const Repeat>(Repeat{inside.finish(outputs), loop.step, loop.count, loop.states});
        return result;
    }

    static bool take_with_operands(const Graph& body, int id, Batcher& steps) {
        if (steps.knows(id)) return true;
        const Node& node = body.at(id);
        return std::all_of(node.operands.begin(), node.operands.end(),
                           [&](int operand) { return take_with_operands(body, operand, steps); }) &&
               steps.take(node);
    }

    int read_in_step(int made, const std::string& step, const Node& node, GraphWriter& inside, Loop& loop) const {
        const Shape all = out_.at(made).shape;
        Node input;
        input.family = Family::input;
        input.op = std::to_string(loop.operands.size());
        input.shape = all;
        input.dtype = node.dtype;
        loop.operands.push_back(made);
        Node slice = whole_slice(inside.at(inside.add(std::move(input))));
        slice.begin[0] = Expression::symbol(step);
        slice.end[0] = slice.begin[0] + Expression(1);
        slice.shape[0] = 1;
        return inside.reshape(inside.add(std::move(slice)), node.shape);
    }

    const Graph& graph_;
    const Products products_;
    GraphWriter out_;
    std::vector<int> places_;
    std::map<LoopKey, Loop> loops_;
};

}  // namespace

Graph batched_loops(const Graph& graph, Products products) {
    return has_loops(graph) ? Rewriter(graph, products).run() : graph;
}

}  // namespace strop
