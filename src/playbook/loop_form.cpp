#include "playbook/loop_form.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/decisions.h"
#include "graph/reciprocal.h"
#include "playbook/argument_names.h"
#include "playbook/pointwise_part.h"

namespace strop::playbook {

namespace {

// Which axes of which nodes are one axis of the loop nest.
class Axes {
public:
    int add() {
        parent_.push_back(static_cast<int>(parent_.size()));
        return parent_.back();
    }
    int find(int axis) const {
        while (parent_[static_cast<size_t>(axis)] != axis) axis = parent_[static_cast<size_t>(axis)];
        return axis;
    }
    void join(int a, int b) { parent_[static_cast<size_t>(find(a))] = find(b); }

private:
    std::vector<int> parent_;
};

// Names that kernels use themselves.
const std::set<std::string>& reserved() {
    static const std::vector<std::string> words = split(
        "rows columns depth row j i u lanes begin end vec vmask sum maximum minimum load store stream fence "
        "splat select fma scratch first step VL UNROLL PANEL BLOCK TILE PARALLEL_MIN STREAM_MIN threads "
        "thread partial width each_vector load_part store_part panels panel task float int double bool CHUNK "
        "AHEAD block tile count old product head streamed past_caches each_aligned put_aligned put p v n kept "
        "stride lane tiles part shared slot main auto const for if new delete mean weight delta ROWS group "
        "vabs vmax vmin vexp vlog rotate grain vmax_number maximum_number vexp_nonpositive twice_exp me from "
        "to queue large far rounded_product no_bits FAR_MIN PAGE",
        ' ');
    static const std::set<std::string> names(words.begin(), words.end());
    return names;
}

class Recogniser {
public:
    Recogniser(const Problem& problem, const Graph& graph) : source_(graph) { form_.problem = problem; }

    LoopForm recognise() {
        if (!source_.untraceable.empty()) return lacking(source_.untraceable);
        rename();
        find_needed();
        for (const Node& node : source_.nodes)
            if (needed_[index(node.id)] && !check(node)) return form_;
        join_axes();
        if (!form_.lacks.empty() || !order_axes() || !collapse() || !place_reduction()) return form_;
        describe_extents();
        rebuild();
        stage();
        check_outputs();
        return form_;
    }

private:
    static size_t index(int id) { return static_cast<size_t>(id); }

    LoopForm& lacking(const std::string& what) {
        if (form_.lacks.empty()) form_.lacks = what;
        return form_;
    }
    bool fail(const std::string& what) {
        lacking(what);
        return false;
    }

    void rename() { original_ = free_names(form_.problem, source_, reserved()); }

    void find_needed() {
        needed_.assign(source_.nodes.size(), false);
        for (int id : source_.outputs) needed_[index(id)] = true;
        for (size_t i = source_.nodes.size(); i-- > 0;)
            if (needed_[i])
                for (int operand : source_.nodes[i].operands) needed_[index(operand)] = true;
    }

    static bool computable(DType dtype) {
        return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::boolean;
    }

    bool check(const Node& node) {
        bool number = node.family == Family::constant || node.family == Family::parameter;
        if (!number && !computable(node.dtype)) return fail("values of type " + name_of(node.dtype));
        switch (node.family) {
            case Family::input: return node.dtype != DType::float64 || fail("inputs of type float64");
            case Family::constant:
            case Family::parameter:
            case Family::pointwise: return true;
            case Family::reduction:
                if (node.op != "sum" && node.op != "max" && node.op != "min" && node.op != "prod")
                    return fail(fmt::format("reduction '{}'", node.op));
                return is_floating(node.dtype) || fail(fmt::format("reduction '{}' of truth values", node.op));
            case Family::layout: return keeps_order(node) || fail(fmt::format("layout '{}' inside the loops", node.op));
            default: return fail(fmt::format("{} '{}' inside the loops", name_of(node.family), node.op));
        }
    }

    static std::vector<size_t> long_axes(const Node& node) {
        std::vector<size_t> axes;
        for (size_t a = 0; a < node.shape.size(); ++a)
            if (!node.shape[a].is_literal(1)) axes.push_back(a);
        return axes;
    }

    // Layout operations that only add or remove axes of extent 1, or repeat along them.
    bool keeps_order(const Node& node) const {
        if (node.op == "broadcast") return true;
        if (node.op != "reshape") return false;
        const Node& operand = source_.at(node.operands[0]);
        std::vector<size_t> from = long_axes(operand), to = long_axes(node);
        if (from.size() != to.size()) return false;
        for (size_t k = 0; k < from.size(); ++k)
            if (!(operand.shape[from[k]] == node.shape[to[k]])) return false;
        return true;
    }

    static std::set<size_t> reduced_axes(const Node& node, size_t rank) {
        std::set<size_t> axes;
        for (int axis : node.axes) axes.insert(static_cast<size_t>(axis < 0 ? axis + static_cast<int>(rank) : axis));
        if (axes.empty())
            for (size_t a = 0; a < rank; ++a) axes.insert(a);
        return axes;
    }

    void join(const Node& a, size_t axis_a, const Node& b, size_t axis_b) {
        if (a.shape[axis_a].is_literal(1) || b.shape[axis_b].is_literal(1)) return;
        axes_.join(axis_of_[index(a.id)][axis_a], axis_of_[index(b.id)][axis_b]);
    }

    void join_axes() {
        axis_of_.resize(source_.nodes.size());
        for (const Node& node : source_.nodes)
            for (size_t a = 0; a < node.shape.size(); ++a) axis_of_[index(node.id)].push_back(axes_.add());
        for (const Node& node : source_.nodes) {
            if (!needed_[index(node.id)]) continue;
            if (node.family == Family::reduction) join_reduction(node);
            else if (node.family == Family::layout && node.op == "reshape") join_reshape(node);
            else join_right_aligned(node);
        }
    }

    void join_right_aligned(const Node& node) {
        for (int id : node.operands) {
            const Node& operand = source_.at(id);
            if (operand.shape.size() > node.shape.size()) return void(fail("operands of a higher rank"));
            size_t skipped = node.shape.size() - operand.shape.size();
            for (size_t a = 0; a < operand.shape.size(); ++a) join(operand, a, node, a + skipped);
        }
    }

    void join_reshape(const Node& node) {
        const Node& operand = source_.at(node.operands[0]);
        std::vector<size_t> from = long_axes(operand), to = long_axes(node);
        for (size_t k = 0; k < from.size(); ++k) join(operand, from[k], node, to[k]);
    }

    void join_reduction(const Node& node) {
        const Node& operand = source_.at(node.operands[0]);
        std::set<size_t> reduced = reduced_axes(node, operand.shape.size());
        size_t to = 0;
        for (size_t a = 0; a < operand.shape.size(); ++a) {
            if (!reduced.contains(a)) join(operand, a, node, to);
            if (!reduced.contains(a) || node.keepdims) ++to;
        }
    }

    // The classes of a node's axes, in its order.
    std::vector<int> classes(const Node& node) const {
        std::vector<int> result;
        for (size_t a : long_axes(node)) result.push_back(axes_.find(axis_of_[index(node.id)][a]));
        return result;
    }

    // The nest's axes are those of the widest value; all others must have theirs in the same order.
    bool order_axes() {
        const Node* widest = nullptr;
        for (const Node& node : source_.nodes)
            if (needed_[index(node.id)] && (!widest || classes(node).size() > classes(*widest).size())) widest = &node;
        if (!widest || long_axes(*widest).empty()) return fail("an axis to loop over");
        std::vector<int> all = classes(*widest);
        std::vector<size_t> long_of_widest = long_axes(*widest);
        for (size_t p = 0; p < all.size(); ++p) {
            if (!position_.emplace(all[p], p).second) return fail("one input along two axes");
            extents_.push_back(widest->shape[long_of_widest[p]]);
        }
        members_.resize(source_.nodes.size());
        for (const Node& node : source_.nodes) {
            if (!needed_[index(node.id)]) continue;
            std::vector<size_t> positions;
            for (int one : classes(node)) {
                std::map<int, size_t>::const_iterator found = position_.find(one);
                if (found == position_.end()) return fail("values that no loop nest spans together");
                if (!positions.empty() && found->second <= positions.back()) return fail("transposed operands");
                positions.push_back(found->second);
            }
            members_[index(node.id)] = {positions.begin(), positions.end()};
        }
        return true;
    }

    // Positions of the nest that a reduction runs over. Axes of extent 1 need none.
    std::set<size_t> reduced_positions(const Node& node) const {
        const Node& operand = source_.at(node.operands[0]);
        std::set<size_t> positions;
        for (size_t a : reduced_axes(node, operand.shape.size()))
            if (!operand.shape[a].is_literal(1))
                positions.insert(position_.at(axes_.find(axis_of_[index(operand.id)][a])));
        return positions;
    }

    // Neighbouring axes that every value spans together become one.
    bool collapse() {
        std::vector<size_t> group(extents_.size());
        std::vector<Expression> merged;
        for (size_t p = 0; p < extents_.size(); ++p) {
            bool together = p > 0;
            for (const Node& node : source_.nodes) {
                if (!needed_[index(node.id)] || !together) continue;
                const std::set<size_t>& members = members_[index(node.id)];
                together = members.contains(p) == members.contains(p - 1);
                if (node.family == Family::reduction && together) {
                    std::set<size_t> reduced = reduced_positions(node);
                    together = reduced.contains(p) == reduced.contains(p - 1);
                }
            }
            if (together) merged.back() = merged.back() * extents_[p];
            else merged.push_back(extents_[p]);
            group[p] = merged.size() - 1;
        }
        for (const Node& node : source_.nodes)
            if (needed_[index(node.id)] && node.family == Family::reduction)
                for (size_t p : reduced_positions(node)) reduced_.insert(group[p]);
        for (std::set<size_t>& members : members_) {
            std::set<size_t> groups;
            for (size_t p : members) groups.insert(group[p]);
            members = groups;
        }
        extents_ = merged;
        return true;
    }

    bool place_reduction() {
        bool any_reduction = false;
        for (const Node& node : source_.nodes) {
            if (!needed_[index(node.id)] || node.family != Family::reduction) continue;
            any_reduction = true;
            if (reduced_positions(node).empty()) return fail("a reduction over axes of extent 1");
            if (reduced_.size() != 1) return fail("reductions over different or separated axes");
            if (!members_[index(node.operands[0])].contains(*reduced_.begin()))
                return fail("a reduction over an axis that its operand does not have");
        }
        reduced_at_ = any_reduction ? *reduced_.begin() : extents_.size() - 1;
        size_t inner = extents_.size() - 1 - reduced_at_;
        if (inner > 1) return fail("operands that span a part of the axes behind the reduced one");
        form_.nest = !any_reduction ? Nest::pointwise : inner == 0 ? Nest::rows : Nest::columns;
        return true;
    }

    void describe_extents() {
        std::vector<Expression> outer(extents_.begin(), extents_.begin() + static_cast<std::ptrdiff_t>(reduced_at_));
        form_.rows = product(outer).cpp();
        form_.column_count = extents_.back();
        form_.columns = form_.column_count.cpp();
        form_.last_extent = extents_.back().substitute(original_);
        if (form_.nest == Nest::columns) form_.depth = extents_[reduced_at_].cpp();
    }

    // Which outer slice of a value belongs to `row`.
    std::string outer_index(const std::set<size_t>& members) const {
        const std::vector<Expression> outer(extents_.begin(),
                                            extents_.begin() + static_cast<std::ptrdiff_t>(reduced_at_));
        return slice_index(outer, {members.begin(), members.lower_bound(reduced_at_)}, "row");
    }

    Span span_of(const std::set<size_t>& members) const {
        Span span;
        span.reduced = members.contains(reduced_at_);
        span.inner = members.contains(reduced_at_ + 1);
        size_t outer = 0;
        for (size_t p : members) outer += p < reduced_at_;
        span.any_outer = outer > 0;
        span.all_outer = outer == reduced_at_;
        span.outer_index = outer_index(members);
        return span;
    }

    int append(Node node, const Span& span) {
        node.id = static_cast<int>(form_.graph.nodes.size());
        form_.graph.nodes.push_back(std::move(node));
        form_.spans.push_back(span);
        return form_.graph.nodes.back().id;
    }

    // Copies what is needed; layout nodes vanish, x / s becomes x * (1 / s) when s is constant along the
    // loop.
    void rebuild() {
        std::vector<int> image(source_.nodes.size(), -1);
        std::map<int, Inverse> inverses;
        for (const Node& node : source_.nodes) {
            if (!needed_[index(node.id)]) continue;
            if (node.family == Family::layout && node.op == "reshape") {
                image[index(node.id)] = image[index(node.operands[0])];
                continue;
            }
            Node copy = node;
            if (node.family == Family::layout) {  // a broadcast; only an output can tell it from its operand
                copy.family = Family::pointwise;
                copy.op = "cast";
            }
            for (int& operand : copy.operands) operand = image[index(operand)];
            Span span = span_of(members_[index(node.id)]);
            if (copy.family == Family::pointwise && copy.op == "divide" && !copy.exact && span.reduced)
                invert(copy, inverses);
            image[index(node.id)] = append(copy, span);
        }
        for (int id : source_.outputs) form_.graph.outputs.push_back(image[index(id)]);
        for (int id : rounded_products(form_.graph)) {
            Node& product = form_.graph.nodes[index(id)];
            if (product.op == "square") product.operands.push_back(product.operands[0]);
            product.op = "rounded_product";
        }
    }

    // What a division becomes that has the same divisor in all of the loop.
    struct Inverse {
        int scale = -1;  // of the dividend; -1: none
        int reciprocal = -1;
    };

    void invert(Node& division, std::map<int, Inverse>& inverses) {
        const int divisor = division.operands[1];
        if (form_.full(divisor)) return;
        // Down columns a divisor has lanes, and truth values there are none.
        if (form_.nest == Nest::columns && !has_finite_reciprocal(node_at(), divisor)) return;
        if (!inverses.contains(divisor)) inverses[divisor] = inverse_of(divisor, division.dtype);
        const Inverse& inverse = inverses[divisor];
        if (inverse.scale >= 0) {
            const int dividend = division.operands[0];
            Span span = form_.span(division.operands[0]);
            if (!span.reduced) span = span_of(members_[index(division.id)]);
            division.operands[0] = append(pointwise("multiply", {dividend, inverse.scale}, division.dtype), span);
        }
        division.op = "multiply";
        division.operands[1] = inverse.reciprocal;
    }

    Inverse inverse_of(int divisor, DType dtype) {
        const Span span = form_.span(divisor);
        auto one = [&](const std::string& op, std::vector<int> operands, DType as) {
            return append(pointwise(op, std::move(operands), as), span);
        };
        if (has_finite_reciprocal(node_at(), divisor)) return {-1, one("reciprocal", {divisor}, dtype)};
        const SmallDivisors small = small_divisors(dtype);
        const int is_small =
            one("less", {one("absolute", {divisor}, dtype), constant(small.tiny, dtype)}, DType::boolean);
        const int scale = one("where", {is_small, constant(small.scale, dtype), constant(1, dtype)}, dtype);
        return {scale, one("reciprocal", {one("multiply", {divisor, scale}, dtype)}, dtype)};
    }

    NodeAt node_at() const {
        return [this](int id) -> const Node& { return form_.graph.at(id); };
    }

    static Node pointwise(const std::string& op, std::vector<int> operands, DType dtype) {
        Node node;
        node.family = Family::pointwise;
        node.op = op;
        node.operands = std::move(operands);
        node.dtype = dtype;
        return node;
    }

    int constant(double value, DType dtype) {
        Node node;
        node.family = Family::constant;
        node.value = value;
        node.dtype = dtype;
        return append(node, span_of({}));
    }

    void stage() {
        for (const Node& node : form_.graph.nodes) {
            int stage = 0;
            for (int operand : node.operands) stage = std::max(stage, form_.stage(operand));
            if (node.family == Family::reduction) form_.passes = std::max(form_.passes, ++stage);
            form_.stages.push_back(stage);
        }
    }

    void check_outputs() {
        const std::vector<Tensor>& outputs = form_.problem.outputs;
        if (form_.graph.outputs.size() != outputs.size()) return void(fail("as many results as outputs"));
        for (size_t k = 0; k < outputs.size(); ++k) {
            const Node& node = form_.graph.at(form_.graph.outputs[k]);
            const Span& span = form_.span(node.id);
            if (computed_in(outputs[k].dtype) != DType::float32 && outputs[k].dtype != DType::boolean)
                return void(fail("outputs of type " + name_of(outputs[k].dtype)));
            if ((outputs[k].dtype == DType::boolean) != (node.dtype == DType::boolean))
                return void(fail("outputs of another type than their value"));
            bool behind = form_.nest != Nest::columns || span.inner;
            bool along = form_.nest != Nest::pointwise || span.reduced;
            if (!span.all_outer || !behind || !along) return void(fail("outputs of different shapes"));
        }
    }

    Graph source_;
    LoopForm form_;
    std::vector<bool> needed_;
    Axes axes_;
    std::vector<std::vector<int>> axis_of_;  // node, axis -> a member of axes_
    std::map<int, size_t> position_;         // class -> position in the nest
    std::vector<Expression> extents_;        // by position
    std::vector<std::set<size_t>> members_;  // node -> positions
    std::set<size_t> reduced_;               // positions
    size_t reduced_at_ = 0;
    std::map<std::string, Expression> original_;  // names of dimensions before rename()
};

}  // namespace

std::vector<int> LoopForm::reductions(int pass) const {
    std::vector<int> ids;
    for (const Node& node : graph.nodes)
        if (node.family == Family::reduction && stage(node.id) == pass + 1) ids.push_back(node.id);
    return ids;
}

std::vector<int> LoopForm::full_outputs() const {
    std::vector<int> positions;
    for (size_t k = 0; k < graph.outputs.size(); ++k)
        if (full(graph.outputs[k])) positions.push_back(static_cast<int>(k));
    return positions;
}

std::vector<int> LoopForm::reduced_outputs() const {
    std::vector<int> positions;
    for (size_t k = 0; k < graph.outputs.size(); ++k)
        if (!full(graph.outputs[k])) positions.push_back(static_cast<int>(k));
    return positions;
}

LoopForm loop_form(const Problem& problem, const Graph& graph) { return Recogniser(problem, graph).recognise(); }

}  // namespace strop::playbook
