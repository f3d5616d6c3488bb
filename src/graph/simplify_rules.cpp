// Local rewrites towards one spelling. Same values (up to rounding), other nodes.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "graph/decisions.h"
#include "graph/operations.h"
#include "graph/reciprocal.h"
#include "graph/rewrite.h"

namespace strop {

namespace {

bool is_commutative(const Node& node) {
    const Operation* operation = operation_of(node);
    return operation && operation->commutative;
}

bool has_exact_reciprocal(double value) { return is_power_of_two(value) && std::abs(std::ilogb(value) + 1) < 100; }

class Rewriter {
public:
    explicit Rewriter(const Graph& old) : old_(old), uses_(old.nodes.size(), 0) {
        for (const Node& node : old.nodes)
            for (int operand : node.operands) {
                ++uses_[static_cast<size_t>(operand)];
                if (node.op == "concatenate") joined_.insert(operand);
            }
        for (int id : old.outputs) ++uses_[static_cast<size_t>(id)];
    }

    Graph run() {
        for (const Node& node : old_.nodes) {
            Node copy = node;
            for (int& operand : copy.operands) operand = places_[static_cast<size_t>(operand)];
            int id = rewrite(std::move(copy));
            if (uses_[static_cast<size_t>(node.id)] > 1) shared_.insert(id);
            places_.push_back(id);
        }
        std::vector<int> outputs;
        for (int id : old_.outputs) outputs.push_back(places_[static_cast<size_t>(id)]);
        return out_.finish(outputs);
    }

private:
    const Graph& old_;
    std::vector<int> uses_;    // in the old graph
    std::vector<int> places_;  // old id -> new id
    std::set<int> shared_;     // new ids with several users: not worth undoing for one of them
    bool exact_ = false;       // of the node that is rewritten, and of what it becomes
    std::set<int> joined_;     // old ids that a concatenation reads: what it puts side by side should look alike
    GraphWriter out_;

    const Node& at(int id) const { return out_.at(id); }
    const Node& operand(const Node& node, size_t i) const { return at(node.operands[i]); }
    bool is(int id, const std::string& op) const { return at(id).family == Family::pointwise && at(id).op == op; }
    bool is_layout(int id, const std::string& op) const { return at(id).family == Family::layout && at(id).op == op; }
    bool is_literal(int id) const { return at(id).family == Family::constant && !at(id).dim; }
    bool is_literal(int id, double value) const { return is_literal(id) && at(id).value == value; }

    // A number known before the kernel starts: constants, parameters and what is computed from them.
    bool is_scalar(int id) const {
        const Node& node = at(id);
        if (node.family == Family::constant || node.family == Family::parameter) return true;
        return node.family == Family::pointwise &&
               std::all_of(node.operands.begin(), node.operands.end(), [&](int i) { return is_scalar(i); });
    }

    int rewrite(Node node) {
        exact_ = node.exact;
        switch (node.family) {
            case Family::constant: return rewrite_constant(std::move(node));
            case Family::pointwise: return rewrite_pointwise(std::move(node));
            case Family::layout: return rewrite_layout(std::move(node));
            case Family::reduction: return rewrite_reduction(std::move(node));
            case Family::scan: return rewrite_scan(std::move(node));
            case Family::contraction: return rewrite_contraction(std::move(node));
            default: return out_.add(std::move(node));
        }
    }

    int rewrite_constant(Node node) {
        if (node.dim && node.dim->is_literal()) {
            node.value = to_double(node.dim->evaluate({}));
            node.dim.reset();
        }
        return out_.add(std::move(node));
    }

    // ---- pointwise -------------------------------------------------------------------------------

    int make(const std::string& op, std::vector<int> operands, DType dtype) {
        Node node;
        node.family = Family::pointwise;
        node.op = op;
        node.operands = std::move(operands);
        node.dtype = dtype;
        node.exact = exact_;
        std::vector<Shape> shapes;
        for (int id : node.operands) shapes.push_back(at(id).shape);
        node.shape = broadcast(shapes);
        return rewrite_pointwise(std::move(node));
    }

    int rewrite_pointwise(Node node) {
        drop_broadcasts(node);
        if (std::optional<int> folded = fold(node)) return *folded;
        if (std::optional<int> sunk = sink_transpose(node)) return *sunk;
        if (is_commutative(node)) order_operands(node);
        std::optional<int> simpler;
        if (node.op == "cast") simpler = rewrite_cast(node);
        else if (node.op == "power") simpler = rewrite_power(node);
        else if (node.op == "add" || node.op == "subtract" || node.op == "negative") simpler = rewrite_sum(node);
        else if (node.op == "multiply") simpler = rewrite_product(node);
        else if (node.op == "divide") simpler = rewrite_quotient(node);
        else if (node.op == "reciprocal") simpler = rewrite_reciprocal(node);
        else if (node.op == "where" && node.dtype == DType::boolean && is_literal(node.operands[1], 1) &&
                 is_literal(node.operands[2], 0))
            simpler = node.operands[0];
        // A value of another shape would change what the user broadcasts.
        if (simpler && at(*simpler).shape.size() == node.shape.size()) return *simpler;
        return out_.add(std::move(node));
    }

    // An operand broadcasts by itself where the others give the result its shape; axes of 1 before its own change
    // nothing.
    void drop_broadcasts(Node& node) {
        for (size_t i = 0; i < node.operands.size(); ++i) {
            const Node& source = operand(node, i);
            if (source.family != Family::layout || (source.op != "broadcast" && source.op != "reshape")) continue;
            const Shape& inner = at(source.operands[0]).shape;
            if (source.op == "reshape" && !only_leading_ones(inner, source.shape) &&
                !only_leading_ones(source.shape, inner))
                continue;
            std::vector<Shape> shapes;
            for (size_t j = 0; j < node.operands.size(); ++j) shapes.push_back(j == i ? inner : operand(node, j).shape);
            Shape without = broadcast(shapes);
            bool same = without.size() == node.shape.size();
            for (size_t axis = 0; same && axis < without.size(); ++axis)
                same = without[axis].is_literal(1) == node.shape[axis].is_literal(1);
            if (same) node.operands[i] = source.operands[0];
        }
    }

    std::optional<int> fold(const Node& node) {
        if (!is_floating(node.dtype)) return std::nullopt;
        for (int id : node.operands)
            if (!is_literal(id)) return std::nullopt;
        const Operation* operation = operation_of(node);
        if (!operation || !operation->in_double || node.operands.size() > 2) return std::nullopt;
        double values[2] = {};
        for (size_t i = 0; i < node.operands.size(); ++i) values[i] = operand(node, i).value;
        return out_.constant(operation->in_double(values), node.dtype);
    }

    // Big before small, scalars last, ties by structure: a + b and b + a become one.
    void order_operands(Node& node) {
        auto before = [&](int a, int b) {
            auto rank = [&](int id) {
                return std::make_tuple(is_literal(id), is_scalar(id), -static_cast<int>(long_axes(at(id).shape)),
                                       -static_cast<int>(at(id).shape.size()));
            };
            if (rank(a) != rank(b)) return rank(a) < rank(b);
            return out_.digest(a) < out_.digest(b);
        };
        std::stable_sort(node.operands.begin(), node.operands.end(), before);
    }

    std::optional<int> rewrite_cast(const Node& node) {
        const Node& source = operand(node, 0);
        if (source.dtype == node.dtype) return source.id;
        if (source.family != Family::constant || !is_floating(node.dtype)) return std::nullopt;
        Node constant = source;
        constant.dtype = node.dtype;
        return out_.add(std::move(constant));
    }

    std::optional<int> rewrite_power(const Node& node) {
        int x = node.operands[0];
        if (!is_literal(node.operands[1])) return std::nullopt;
        double exponent = operand(node, 1).value;
        if (exponent == 1) return x;
        if (exponent == 2) return make("square", {x}, node.dtype);
        if (exponent == 3) return make("multiply", {make("square", {x}, node.dtype), x}, node.dtype);
        if (exponent == 4) return make("square", {make("square", {x}, node.dtype)}, node.dtype);
        if (!is_floating(node.dtype)) return std::nullopt;
        if (exponent == 0.5) return make("sqrt", {x}, node.dtype);
        if (exponent == -0.5) return make("rsqrt", {x}, node.dtype);
        if (exponent == -1) return make("reciprocal", {x}, node.dtype);
        if (exponent == -2) return make("reciprocal", {make("square", {x}, node.dtype)}, node.dtype);
        return std::nullopt;
    }

    std::optional<int> rewrite_sum(const Node& node) {
        int a = node.operands[0];
        if (node.op == "negative") {
            if (is(a, "negative")) return at(a).operands[0];
            if (is(a, "subtract")) return make("subtract", {at(a).operands[1], at(a).operands[0]}, node.dtype);
            return std::nullopt;
        }
        int b = node.operands[1];
        if (node.op == "subtract") {
            if (is_literal(b)) return make("add", {a, out_.constant(-at(b).value, at(b).dtype)}, node.dtype);
            if (is_literal(a, 0)) return make("negative", {b}, node.dtype);
            if (is(b, "negative")) return make("add", {a, at(b).operands[0]}, node.dtype);
            return std::nullopt;
        }
        if (is_literal(b, 0) && at(a).dtype == node.dtype) return a;
        if (is(b, "negative")) return make("subtract", {a, at(b).operands[0]}, node.dtype);
        if (is(a, "negative") && !is_literal(b)) return make("subtract", {b, at(a).operands[0]}, node.dtype);
        if (!node.exact && is_literal(b) && is(a, "add") && is_literal(at(a).operands[1])) {
            double sum = at(b).value + at(at(a).operands[1]).value;
            return make("add", {at(a).operands[0], out_.constant(sum, at(b).dtype)}, node.dtype);
        }
        return std::nullopt;
    }

    std::optional<int> rewrite_product(const Node& node) {
        int a = node.operands[0], b = node.operands[1];
        if (a == b) return make("square", {a}, node.dtype);
        if (!is_floating(node.dtype)) return std::nullopt;
        if (is_literal(b)) return rewrite_scaling(node, a, at(b).value);
        if (node.exact) return std::nullopt;
        for (int side = 0; side < 2; ++side, std::swap(a, b)) {
            if (is_scalar(a) || is_scalar(b)) continue;
            if (is(b, "reciprocal")) return make("divide", {a, at(b).operands[0]}, node.dtype);
            if (is(b, "rsqrt")) return make("divide", {a, make("sqrt", {at(b).operands[0]}, node.dtype)}, node.dtype);
        }
        return move_factor_out(node);
    }

    // x * c
    std::optional<int> rewrite_scaling(const Node& node, int x, double factor) {
        if (factor == 1) return x;
        if (factor == -1) return make("negative", {x}, node.dtype);
        if (!node.exact && is(x, "multiply") && is_literal(at(x).operands[1])) {
            double product = factor * at(at(x).operands[1]).value;
            return make("multiply", {at(x).operands[0], out_.constant(product, node.dtype)}, node.dtype);
        }
        if (is(x, "negative"))
            return make("multiply", {at(x).operands[0], out_.constant(-factor, node.dtype)}, node.dtype);
        return std::nullopt;
    }

    // (x * c) * y and (x * c) / y: the literal goes last, so that 0.5 * x * t and x * (0.5 * t) meet.
    std::optional<int> move_factor_out(const Node& node) {
        for (size_t i = 0; i < 2; ++i) {
            const Node& inner = operand(node, i);
            bool literal_factor = is(inner.id, "multiply") && is_literal(inner.operands[1]);
            if (!literal_factor || shared_.count(inner.id) || inner.shape.size() > node.shape.size()) continue;
            double factor = at(inner.operands[1]).value;
            if (node.op == "divide" && i == 1) factor = 1 / factor;
            std::vector<int> operands = node.operands;
            operands[i] = inner.operands[0];
            int product = make(node.op, operands, node.dtype);
            return make("multiply", {product, out_.constant(factor, node.dtype)}, node.dtype);
        }
        return std::nullopt;
    }

    std::optional<int> rewrite_quotient(const Node& node) {
        int a = node.operands[0], b = node.operands[1];
        if (!is_floating(node.dtype)) return std::nullopt;
        if (is_literal(b, 1)) return a;
        if (is_literal(a, 1)) return make("reciprocal", {b}, node.dtype);
        if (node.exact && !(is_literal(b) && has_exact_reciprocal(at(b).value))) return std::nullopt;
        if (is_literal(b) && at(b).value != 0)
            return make("multiply", {a, out_.constant(1 / at(b).value, node.dtype)}, node.dtype);
        if (is_scalar(b) && has_finite_reciprocal([this](int id) -> const Node& { return out_.at(id); }, b))
            return make("multiply", {a, make("reciprocal", {b}, node.dtype)}, node.dtype);
        if (is(b, "reciprocal")) return make("multiply", {a, at(b).operands[0]}, node.dtype);
        if (is(b, "rsqrt")) return make("multiply", {a, make("sqrt", {at(b).operands[0]}, node.dtype)}, node.dtype);
        return move_factor_out(node);
    }

    std::optional<int> rewrite_reciprocal(const Node& node) {
        if (node.exact) return std::nullopt;
        const Node& source = operand(node, 0);
        if (is(source.id, "reciprocal")) return source.operands[0];
        if (is(source.id, "sqrt")) return make("rsqrt", {source.operands[0]}, node.dtype);
        if (is(source.id, "rsqrt")) return make("sqrt", {source.operands[0]}, node.dtype);
        if (is(source.id, "exp")) return make("exp", {make("negative", {source.operands[0]}, node.dtype)}, node.dtype);
        return std::nullopt;
    }

    // f(transpose(x), v) becomes transpose(f(x, v')) when v' needs no data moved.
    std::optional<int> sink_transpose(const Node& node) {
        std::vector<int> permutation;
        for (int id : node.operands)
            if (is_layout(id, "transpose") && at(id).shape.size() == node.shape.size()) permutation = at(id).axes;
        if (permutation.empty()) return std::nullopt;
        std::vector<int> operands;
        for (int id : node.operands) {
            if (is_layout(id, "transpose") && at(id).axes == permutation) {
                operands.push_back(at(id).operands[0]);
                continue;
            }
            std::optional<int> moved = unit_transpose(id, permutation);
            if (!moved) return std::nullopt;
            operands.push_back(*moved);
        }
        Node inner = node;
        inner.operands = operands;
        for (size_t i = 0; i < permutation.size(); ++i)
            inner.shape[static_cast<size_t>(permutation[i])] = node.shape[i];
        return transpose(rewrite_pointwise(std::move(inner)), permutation);
    }

    // The operand with its axes where the untransposed result has them; absent when that is not a mere
    // reshape.
    std::optional<int> unit_transpose(int id, const std::vector<int>& permutation) {
        const Shape& shape = at(id).shape;
        if (shape.empty()) return id;
        Shape full(permutation.size(), Expression(1)), moved = full;
        std::copy(shape.rbegin(), shape.rend(), full.rbegin());
        std::vector<int> order;
        for (size_t i = 0; i < full.size(); ++i) {
            moved[static_cast<size_t>(permutation[i])] = full[i];
            if (!full[i].is_literal(1)) order.push_back(permutation[i]);
        }
        if (!std::is_sorted(order.begin(), order.end())) return std::nullopt;
        return reshape(id, moved);
    }

    // ---- layout ----------------------------------------------------------------------------------

    int rewrite_layout(Node node) {
        const Node& source = operand(node, 0);
        if (node.op == "reshape" && joined_.count(node.id)) return out_.reshape(source.id, node.shape);
        if (node.op == "reshape") return reshape(source.id, node.shape);
        if (node.op == "transpose") return transpose(source.id, node.axes);
        if (node.op == "slice") return rewrite_slice(std::move(node));
        if (node.op == "broadcast" && source.shape == node.shape) return source.id;
        if (node.op == "broadcast" && is_layout(source.id, "broadcast")) node.operands[0] = source.operands[0];
        if (node.op == "concatenate" && node.operands.size() == 1) return source.id;
        if (node.op == "reverse" && is_layout(source.id, "reverse") && source.axes == node.axes)
            return source.operands[0];
        auto zero = [](const Expression& amount) { return amount.is_literal(0); };
        if (node.op == "pad" && std::all_of(node.begin.begin(), node.begin.end(), zero) &&
            std::all_of(node.end.begin(), node.end.end(), zero))
            return source.id;
        return out_.add(std::move(node));
    }

    int reshape(int id, const Shape& shape) {
        const Node source = at(id);
        if (source.shape == shape) return id;
        if (is_layout(id, "reshape")) return reshape(source.operands[0], shape);
        if (is_layout(id, "broadcast") && at(source.operands[0]).shape.empty()) {
            Node same = source;
            same.shape = shape;
            return out_.add(std::move(same));
        }
        if (source.family == Family::reduction)
            if (std::optional<int> kept = reshape_reduction(source, shape)) return *kept;
        if (source.family == Family::pointwise && !shared_.count(id))
            if (std::optional<int> inner = reshape_pointwise(source, shape)) return *inner;
        return out_.reshape(id, shape);
    }

    // A reduction whose axes come back as 1 (or go) is a reduction with (or without) keepdims.
    std::optional<int> reshape_reduction(const Node& source, const Shape& shape) {
        Shape kept, dropped;
        const Shape& full = at(source.operands[0]).shape;
        for (size_t i = 0; i < full.size(); ++i) {
            bool reduced = std::find(source.axes.begin(), source.axes.end(), static_cast<int>(i)) != source.axes.end();
            kept.push_back(reduced ? Expression(1) : full[i]);
            if (!reduced) dropped.push_back(full[i]);
        }
        bool inserts = !source.keepdims && shape == kept;
        bool removes = source.keepdims && shape == dropped && !shared_.count(source.id);
        if (!inserts && !removes) return std::nullopt;
        Node node = source;
        node.keepdims = inserts;
        node.shape = shape;
        return out_.add(std::move(node));
    }

    // Inserting and removing unit axes goes up to the operands, where it meets the reductions.
    std::optional<int> reshape_pointwise(const Node& source, const Shape& shape) {
        bool inserts = shape.size() > source.shape.size();
        std::optional<std::vector<size_t>> places =
            inserts ? unit_insertion(source.shape, shape) : unit_insertion(shape, source.shape);
        if (!places || shape.empty() || source.shape.empty()) return std::nullopt;
        std::vector<int> operands;
        for (int id : source.operands) {
            const Shape& own = at(id).shape;
            Shape full = own;
            full.insert(full.begin(), source.shape.size() - own.size(), Expression(1));
            Shape moved(shape.size(), Expression(1));
            for (size_t i = 0; i < places->size(); ++i)
                if (inserts) moved[(*places)[i]] = full[i];
                else moved[i] = full[(*places)[i]];
            operands.push_back(own.empty() ? id : reshape(id, moved));
        }
        Node node = source;
        node.operands = operands;
        node.shape = shape;
        return rewrite_pointwise(std::move(node));
    }

    int transpose(int id, const std::vector<int>& permutation) {
        if (is_permutation_identity(permutation)) return id;
        const Node& source = at(id);
        if (source.family == Family::contraction && !shared_.count(id)) {
            Node node = source;
            for (size_t i = 0; i < permutation.size(); ++i) {
                size_t axis = static_cast<size_t>(permutation[i]);
                node.labels[2][i] = source.labels[2][axis];
                node.shape[i] = source.shape[axis];
            }
            return out_.add(std::move(node));
        }
        return out_.transpose(id, permutation);
    }

    // One place of an axis that a reshape made of several: a place of each of those.
    std::optional<int> slice_of_merged_axes(const Node& node) {
        const Node& source = operand(node, 0);
        if (!is_layout(source.id, "reshape")) return std::nullopt;
        std::optional<size_t> cut;
        for (size_t i = 0; i < node.shape.size(); ++i) {
            if (node.shape[i] == source.shape[i]) continue;
            if (cut || !node.shape[i].is_literal(1) || !node.begin[i].is_literal()) return std::nullopt;
            cut = i;
        }
        const Node& whole = at(source.operands[0]);
        for (size_t i = 0, j = 0; cut && i < source.shape.size();) {
            const auto [i_end, j_end] = next_run_of_axes(source.shape, i, whole.shape, j);
            if (*cut >= i_end) {
                i = i_end;
                j = j_end;
                continue;
            }
            if (i_end - i > 1 || j_end - j < 2) return std::nullopt;
            Node slice = whole_slice(whole);
            int64_t place = node.begin[*cut].evaluate_integer({});
            for (size_t axis = j_end; axis-- > j;) {
                if (!whole.shape[axis].is_literal()) return std::nullopt;
                const int64_t extent = whole.shape[axis].evaluate_integer({});
                slice.begin[axis] = place % extent;
                slice.end[axis] = place % extent + 1;
                slice.shape[axis] = 1;
                place /= extent;
            }
            return reshape(rewrite_slice(std::move(slice)), node.shape);
        }
        return std::nullopt;
    }

    // Slices of slices join where each axis is cut by one of them only, or by both without gaps.
    int rewrite_slice(Node node) {
        const Node& source = operand(node, 0);
        auto whole = [](const Node& slice, const Shape& extents, size_t i) {
            return slice.begin[i].is_literal(0) && slice.step[i].is_literal(1) && slice.end[i] == extents[i];
        };
        bool nothing = true;
        for (size_t i = 0; i < node.shape.size(); ++i) nothing = nothing && whole(node, source.shape, i);
        if (nothing) return source.id;
        if (is_layout(source.id, "broadcast") && at(source.operands[0]).shape.empty()) {
            Node smaller = source;
            smaller.shape = node.shape;
            return out_.add(std::move(smaller));
        }
        if (const std::optional<int> apart = slice_of_merged_axes(node)) return *apart;
        if (!is_layout(source.id, "slice")) return out_.add(std::move(node));
        const Shape& base = at(source.operands[0]).shape;
        Node joined = node;
        joined.operands = source.operands;
        for (size_t i = 0; i < node.shape.size(); ++i) {
            bool inner = whole(source, base, i), outer = whole(node, source.shape, i);
            if (!inner && !outer) {
                if (!source.step[i].is_literal(1) || !node.step[i].is_literal(1)) return out_.add(std::move(node));
                joined.begin[i] = source.begin[i] + node.begin[i];
                joined.end[i] = node.end[i] == source.shape[i] ? source.end[i] : source.begin[i] + node.end[i];
                continue;
            }
            const Node& cutting = inner ? node : source;
            joined.begin[i] = cutting.begin[i];
            joined.end[i] = cutting.end[i];
            joined.step[i] = cutting.step[i];
        }
        return out_.add(std::move(joined));
    }

    // ---- reductions and contractions ---------------------------------------------------------------

    // Nothing is reduced along an axis of extent 1.
    std::optional<int> without_unit_axes(const Node& node) {
        const Node& source = at(node.operands[0]);
        Node less = node;
        std::erase_if(less.axes, [&](int axis) { return source.shape[static_cast<size_t>(axis)].is_literal(1); });
        const bool place = node.op == "argmax" || node.op == "argmin";
        if (place || node.axes.empty() || less.axes.size() == node.axes.size() || source.dtype != node.dtype)
            return std::nullopt;
        if (less.axes.empty()) return reshape(source.id, node.shape);
        less.keepdims = true;
        less.shape = source.shape;
        for (int axis : less.axes) less.shape[static_cast<size_t>(axis)] = 1;
        return reshape(rewrite_reduction(std::move(less)), node.shape);
    }

    int rewrite_reduction(Node node) {
        if (const std::optional<int> less = without_unit_axes(node)) return *less;
        const Node& source = operand(node, 0);
        if (is_layout(source.id, "transpose")) return reduce_transposed(node, source);
        if (!node.keepdims && has_kept_twin(node)) {
            Node kept = node;
            kept.keepdims = true;
            kept.shape = source.shape;
            for (int axis : node.axes) kept.shape[static_cast<size_t>(axis)] = Expression(1);
            return out_.reshape(out_.add(std::move(kept)), node.shape);
        }
        return out_.add(std::move(node));
    }

    // One reduction serves both spellings.
    bool has_kept_twin(const Node& node) const {
        for (const Node& other : old_.nodes) {
            bool twin = other.family == Family::reduction && other.op == node.op && other.keepdims &&
                        other.axes == node.axes && static_cast<size_t>(other.operands[0]) < places_.size() &&
                        places_[static_cast<size_t>(other.operands[0])] == node.operands[0];
            if (twin) return true;
        }
        return false;
    }

    int reduce_transposed(Node node, const Node& source) {
        const std::vector<int> permutation = source.axes;
        for (int& axis : node.axes) axis = permutation[static_cast<size_t>(axis)];
        std::vector<int> reduced = node.axes;
        std::sort(node.axes.begin(), node.axes.end());
        node.operands = source.operands;
        const Shape& base = at(source.operands[0]).shape;
        std::vector<int> kept;  // the axes of the base in the order in which the result has them
        for (int axis : permutation)
            if (node.keepdims || std::find(reduced.begin(), reduced.end(), axis) == reduced.end()) kept.push_back(axis);
        std::vector<int> sorted = kept;
        std::sort(sorted.begin(), sorted.end());
        node.shape.clear();
        std::vector<int> order;
        for (int axis : sorted) {
            bool gone = std::find(reduced.begin(), reduced.end(), axis) != reduced.end();
            node.shape.push_back(gone ? Expression(1) : base[static_cast<size_t>(axis)]);
        }
        for (int axis : kept)
            order.push_back(static_cast<int>(std::find(sorted.begin(), sorted.end(), axis) - sorted.begin()));
        return transpose(rewrite_reduction(std::move(node)), order);
    }

    // A running sum of ones counts: np.arange.
    int rewrite_scan(Node node) {
        const Node& source = operand(node, 0);
        bool ones = is_layout(source.id, "broadcast") && is_literal(source.operands[0], 1);
        if (node.op != "sum" || !ones) return out_.add(std::move(node));
        Node count;
        count.family = Family::iota;
        count.axes = node.axes;
        count.shape = node.shape;
        count.dtype = DType::int64;
        int index = out_.add(std::move(count));
        if (node.dtype != DType::int64) index = make("cast", {index}, node.dtype);
        return make("add", {index, out_.constant(1, node.dtype)}, node.dtype);
    }

    int rewrite_contraction(Node node) {
        for (size_t side = 0; side < 2; ++side) {
            const Node& source = operand(node, side);
            if (!is_layout(source.id, "transpose")) continue;
            std::string labels = node.labels[side];
            for (size_t i = 0; i < source.axes.size(); ++i)
                labels[static_cast<size_t>(source.axes[i])] = node.labels[side][i];
            node.labels[side] = labels;
            node.operands[side] = source.operands[0];
        }
        rename_labels(node);
        return out_.add(std::move(node));
    }

    // Letters in order of appearance: equal contractions have equal labels.
    static void rename_labels(Node& node) {
        std::map<char, char> letters;
        for (std::string& labels : node.labels)
            for (char& label : labels)
                label = letters.emplace(label, static_cast<char>('a' + letters.size())).first->second;
    }
};

}  // namespace

Graph rewrite_once(const Graph& graph) { return Rewriter(graph).run(); }

}  // namespace strop
