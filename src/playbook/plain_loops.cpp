#include "playbook/plain_loops.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/operations.h"
#include "graph/rewrite.h"
#include "language/contract.h"
#include "playbook/loop_text.h"
#include "playbook/plain_value.h"

namespace strop::playbook {

namespace {

constexpr int64_t parallel_min = 16384;  // iterations below which starting threads costs more

struct Loop {
    std::string name, extent;
    bool carried = false;  // its iterations depend on each other
};

// One nest: loops, what each depth says before the next loop, and what it says after.
class Nest {
public:
    Nest(const Graph& graph, const std::set<std::string>& taken) : values(graph, taken) {}

    Term open(const Expression& extent, bool carried = false) {
        if (extent.is_literal(1)) return {"0", 0, true};
        static const std::vector<std::string> letters = {"i", "j", "k", "l", "m", "n"};
        std::string name = values.fresh(letters[std::min(loops_.size(), letters.size() - 1)]);
        loops_.push_back({name, extent.cpp(), carried});
        return {name, depth(), true};
    }
    TermIndex open(const Shape& shape) {
        TermIndex index;
        for (const Expression& extent : shape) index.push_back(open(extent));
        return index;
    }
    int depth() const { return static_cast<int>(loops_.size()); }
    void after(int depth, const std::string& statement) { after_[depth].push_back(statement); }
    // The innermost loop may be done in vectors although its iterations share `name`.
    void reduce_in_vectors(const std::string& name) { shared_ = name; }

    void write(Lines& lines) { write(lines, 0); }

    PlainValues values;

private:
    void write(Lines& lines, size_t at) {
        lines.add(values.statements(static_cast<int>(at)));
        if (at < loops_.size()) {
            const Loop& loop = loops_[at];
            if (at == 0) start_threads(lines);
            bool last = at + 1 == loops_.size();
            if (last && !shared_.empty() && loop.carried)
                lines.pragma(fmt::format("#pragma omp simd reduction(+ : {})", shared_));
            lines.add(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", loop.name, loop.extent));
            write(lines, at + 1);
            lines.add("}");
        }
        lines.add(after_[static_cast<int>(at)]);
    }

    // The outer loops that nothing stands between, but not the innermost, which is for vectors.
    void start_threads(Lines& lines) {
        size_t joined = 0;
        while (joined < loops_.size() && !loops_[joined].carried &&
               (joined == 0 || joined + 1 < loops_.size()) &&
               (joined == 0 || values.statements(static_cast<int>(joined)).empty()))
            ++joined;
        if (joined == 0) return;
        std::string work, collapse = joined > 1 ? fmt::format(" collapse({})", joined) : "";
        for (const Loop& loop : loops_) {
            bool whole = loop.extent.find(' ') == std::string::npos;
            work += (work.empty() ? "" : " * ") + (whole ? loop.extent : "(" + loop.extent + ")");
        }
        lines.pragma(fmt::format("#pragma omp parallel for{} if ({} >= {})", collapse, work, parallel_min));
    }

    std::vector<Loop> loops_;
    std::map<int, std::vector<std::string>> after_;
    std::string shared_;
};

class Writer {
public:
    Writer(const Problem& problem, const Graph& graph) : problem_(problem), graph_(graph) {
        for (const std::vector<Tensor>* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) taken_.insert(tensor.name);
        for (const Parameter& parameter : problem.parameters) taken_.insert(parameter.name);
        taken_.insert(problem.dimensions.begin(), problem.dimensions.end());
        taken_.insert(problem.name);
    }

    PlainLoops write() {
        Lines body(1, signature(problem_) + " {\n");
        for (size_t k = 0; k < graph_.outputs.size(); ++k)
            nest(graph_.at(graph_.outputs[k]), problem_.outputs.at(k), body);
        result_.body = body.text() + "}\n";
        return std::move(result_);
    }

private:
    void nest(const Node& node, const Tensor& to, Lines& lines) {
        if (node.family == Family::layout && node.op == "concatenate") return concatenate(node, to, lines);
        Nest nest(graph_, taken_);
        if (node.family == Family::reduction && !operation_of(node)->in_double)
            locate(node, to, nest);
        else if (node.family == Family::reduction)
            reduce(node, to, nest);
        else if (node.family == Family::scan)
            scan(node, to, nest);
        else if (node.family == Family::contraction)
            contract(node, to, nest);
        else if (node.family == Family::convolution)
            convolve(node, to, nest);
        else
            copy(node, to, nest);
        finish(nest, lines);
    }

    void finish(Nest& nest, Lines& lines) {
        const bool names = !nest.values.statements(0).empty();  // another nest may have the same
        if (names) lines.add("{");
        nest.write(lines);
        if (names) lines.add("}");
        result_.helpers.merge(nest.values.helpers);
        if (result_.lacks.empty()) result_.lacks = nest.values.lacks;
    }

    // "y[i * N + j]"
    static std::string element(const Tensor& tensor, const Shape& shape, const TermIndex& index) {
        Term offset{"0", 0, true};
        for (size_t axis = 0; axis < shape.size(); ++axis)
            offset = plus(times(offset, extent_term(shape[axis])), index[axis]);
        return fmt::format("{}[{}]", tensor.name, offset.text);
    }

    void copy(const Node& node, const Tensor& to, Nest& nest) {
        TermIndex index = nest.open(node.shape);
        Term value = nest.values.at(node.id, index);
        nest.values.add(nest.depth(), fmt::format("{} = {};", element(to, node.shape, index), value.text));
    }

    // float32 sums are carried in double: the order of NumPy's sums rounds less than one after the other.
    static std::string carried_type(const Node& node) {
        bool exact = node.op == "max" || node.op == "min" || !is_floating(node.dtype);
        return exact ? c_type(node.dtype) : "double";
    }

    static std::string start_of(const Operation& operation, DType dtype) {
        if (is_floating(dtype) && std::isinf(operation.start)) return plain_literal(operation.start, dtype);
        if (is_floating(dtype)) return plain_literal(operation.start, DType::float64);
        if (std::string(operation.name) == "max")
            return fmt::format("std::numeric_limits<{}>::lowest()", c_type(dtype));
        if (std::string(operation.name) == "min")
            return fmt::format("std::numeric_limits<{}>::max()", c_type(dtype));
        return plain_literal(operation.start, dtype);
    }

    std::string folded(const std::string& op, const std::string& type, const std::string& into,
                       const Term& value, Nest& nest) {
        if (op == "sum") return fmt::format("{} += {};", into, value.text);
        if (op == "prod") return fmt::format("{} *= {};", into, value.grouped());
        if (op == "any") return fmt::format("{} = {} || {};", into, into, value.grouped());
        if (op == "all") return fmt::format("{} = {} && {};", into, into, value.grouped());
        std::string helper = op == "max" ? "max_of" : "min_of";
        nest.values.helpers.insert(helper);
        return fmt::format("{0} = {1}<{2}>({0}, {3});", into, helper, type, value.text);
    }

    // Loops over the axes that stay, then over those that go; the index into the operand.
    struct ReducedIndex {
        TermIndex source, result;
        int outer = 0;  // depth of the loops that stay
    };
    ReducedIndex open_reduction(const Node& node, Nest& nest) {
        const Shape& shape = graph_.at(node.operands[0]).shape;
        auto gone = [&](size_t axis) {
            return std::find(node.axes.begin(), node.axes.end(), static_cast<int>(axis)) != node.axes.end();
        };
        ReducedIndex index{TermIndex(shape.size(), Term{"0", 0, true}), {}, 0};
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            if (!gone(axis)) index.source[axis] = nest.open(shape[axis]);
            if (!gone(axis)) index.result.push_back(index.source[axis]);
            if (gone(axis) && node.keepdims) index.result.push_back({"0", 0, true});
        }
        index.outer = nest.depth();
        for (size_t axis = 0; axis < shape.size(); ++axis)
            if (gone(axis)) index.source[axis] = nest.open(shape[axis], true);
        return index;
    }

    void reduce(const Node& node, const Tensor& to, Nest& nest) {
        const Operation& operation = *operation_of(node);
        ReducedIndex index = open_reduction(node, nest);
        std::string type = carried_type(node),
                    total = nest.values.fresh(node.op == "sum" ? "total" : "folded");
        nest.values.add(index.outer,
                        fmt::format("{} {} = {};", type, total, start_of(operation, node.dtype)));
        Term value = nest.values.at(node.operands[0], index.source);
        nest.values.add(nest.depth(), folded(node.op, type, total, value, nest));
        if (node.op == "sum") nest.reduce_in_vectors(total);
        store(node, to, index.result, total, index.outer, nest);
    }

    void store(const Node& node, const Tensor& to, const TermIndex& index, const std::string& value,
               int depth, Nest& nest) {
        std::string cast = node.dtype == DType::float32 ? "(float)" : "";
        std::string text = fmt::format("{} = {}{};", element(to, node.shape, index), cast, value);
        if (depth == nest.depth())
            nest.values.add(depth, text);
        else
            nest.after(depth, text);
    }

    // The first place of the extremum; the first NaN is the extremum.
    void locate(const Node& node, const Tensor& to, Nest& nest) {
        ReducedIndex index = open_reduction(node, nest);
        const Node& source = graph_.at(node.operands[0]);
        std::string best = nest.values.fresh("best"), place = nest.values.fresh("best_place");
        std::string type = c_type(source.dtype), sign = node.op == "argmax" ? ">" : "<";
        const Term& at = index.source[static_cast<size_t>(node.axes.at(0))];
        nest.values.add(index.outer, fmt::format("{} {} = 0;", type, best));
        nest.values.add(index.outer, fmt::format("int64_t {} = 0;", place));
        std::string candidate = nest.values.fresh("candidate");
        Term value = nest.values.at(source.id, index.source);
        nest.values.add(nest.depth(), fmt::format("const {} {} = {};", type, candidate, value.text));
        std::string better = fmt::format("{} {} {}", candidate, sign, best);
        if (is_floating(source.dtype))
            better = fmt::format("(({}) || {} != {}) && {} == {}", better, candidate, candidate, best, best);
        nest.values.add(nest.depth(), fmt::format("if ({} == 0 || ({})) {{", at.text, better));
        nest.values.add(nest.depth(), fmt::format("{} = {};", best, candidate));
        nest.values.add(nest.depth(), fmt::format("{} = {};", place, at.text));
        nest.values.add(nest.depth(), "}");
        store(node, to, index.result, place, index.outer, nest);
    }

    void scan(const Node& node, const Tensor& to, Nest& nest) {
        const size_t along = static_cast<size_t>(node.axes.at(0));
        TermIndex index(node.shape.size(), Term{"0", 0, true});
        for (size_t axis = 0; axis < node.shape.size(); ++axis)
            if (axis != along) index[axis] = nest.open(node.shape[axis]);
        std::string type = carried_type(node), running = nest.values.fresh("running");
        nest.values.add(nest.depth(),
                        fmt::format("{} {} = {};", type, running, start_of(*operation_of(node), node.dtype)));
        index[along] = nest.open(node.shape[along], true);
        Term value = nest.values.at(node.operands[0], index);
        nest.values.add(nest.depth(), folded(node.op, type, running, value, nest));
        store(node, to, index, running, nest.depth(), nest);
    }

    void contract(const Node& node, const Tensor& to, Nest& nest) {
        std::map<char, Expression> extents;
        for (size_t side = 0; side < 2; ++side)
            for (size_t axis = 0; axis < node.labels[side].size(); ++axis) {
                const Expression& extent = graph_.at(node.operands[side]).shape[axis];
                auto known = extents.try_emplace(node.labels[side][axis], extent).first;
                if (known->second.is_literal(1)) known->second = extent;
            }
        std::map<char, Term> places;
        TermIndex result;
        for (size_t axis = 0; axis < node.shape.size(); ++axis) {
            result.push_back(nest.open(node.shape[axis]));
            places[node.labels[2][axis]] = result.back();
        }
        const int outer = nest.depth();
        for (const auto& [label, extent] : extents)
            if (!places.contains(label)) places[label] = nest.open(extent, true);
        std::string total = nest.values.fresh("total");
        nest.values.add(outer, fmt::format("{} {} = 0;", carried_type(node), total));
        Term product = times(labelled(node, 0, places, nest), labelled(node, 1, places, nest));
        nest.values.add(nest.depth(), fmt::format("{} += {};", total, product.text));
        nest.reduce_in_vectors(total);
        store(node, to, result, total, outer, nest);
    }

    Term labelled(const Node& node, size_t side, const std::map<char, Term>& places, Nest& nest) {
        const Node& source = graph_.at(node.operands[side]);
        TermIndex index;
        for (size_t axis = 0; axis < source.shape.size(); ++axis)
            index.push_back(source.shape[axis].is_literal(1) ? Term{"0", 0, true}
                                                             : places.at(node.labels[side][axis]));
        return nest.values.at(source.id, index);
    }

    void convolve(const Node& node, const Tensor& to, Nest& nest) {
        const Node& image = graph_.at(node.operands[0]);
        const Node& filters = graph_.at(node.operands[1]);
        TermIndex out = nest.open(node.shape);
        const int outer = nest.depth();
        TermIndex tap;
        for (size_t axis = 1; axis < filters.shape.size(); ++axis)
            tap.push_back(nest.open(filters.shape[axis], true));
        std::string total = nest.values.fresh("total");
        nest.values.add(outer, fmt::format("{} {} = 0;", carried_type(node), total));
        Term channel = tap[0];
        if (!node.groups.is_literal(1)) {
            Term filters_of_group = extent_term(Expression::floor_divide(filters.shape[0], node.groups));
            Term group{fmt::format("{} / {}", out[1].grouped(), filters_of_group.grouped()), out[1].depth,
                       false};
            channel = plus(times(group, extent_term(filters.shape[1])), channel);
        }
        TermIndex from = {out[0], channel}, with = {out[1], tap[0]};
        for (size_t s = 0; s < node.stride.size(); ++s) {
            Term at = plus(times(out[s + 2], extent_term(node.stride[s])),
                           times(tap[s + 1], extent_term(node.dilation[s])));
            if (!node.padding[s].is_literal(0)) {
                std::string place = nest.values.fresh(s + 1 == node.stride.size() ? "x" : "y");
                Term padding = extent_term(node.padding[s]);
                nest.values.add(
                    at.depth, fmt::format("const int64_t {} = {} - {};", place, at.text, padding.grouped()));
                nest.values.add(at.depth, fmt::format("if ({0} < 0 || {0} >= {1}) continue;", place,
                                                      extent_term(image.shape[s + 2]).text));
                at = {place, at.depth, true};
            }
            from.push_back(at);
            with.push_back(tap[s + 1]);
        }
        Term product = times(nest.values.at(image.id, from), nest.values.at(filters.id, with));
        nest.values.add(nest.depth(), fmt::format("{} += {};", total, product.text));
        store(node, to, out, total, outer, nest);
    }

    void concatenate(const Node& node, const Tensor& to, Lines& lines) {
        const size_t along = static_cast<size_t>(node.axes.at(0));
        Expression begin = 0;
        for (int id : node.operands) {
            const Node& part = graph_.at(id);
            Shape shape = node.shape;
            shape[along] = part.shape[along];
            Nest nest(graph_, taken_);
            TermIndex to_index = nest.open(shape), from = to_index;
            for (size_t axis = 0; axis < from.size(); ++axis)
                if (part.shape[axis].is_literal(1)) from[axis] = {"0", 0, true};
            Term value = nest.values.at(id, from);
            to_index[along] = plus(to_index[along], extent_term(begin));
            nest.values.add(nest.depth(),
                            fmt::format("{} = {};", element(to, node.shape, to_index), value.text));
            finish(nest, lines);
            begin = begin + part.shape[along];
        }
    }

    const Problem& problem_;
    const Graph& graph_;
    std::set<std::string> taken_;
    PlainLoops result_;
};

}  // namespace

bool computes_in_place(const Node& node) {
    switch (node.family) {
        case Family::input:
        case Family::reduction:
        case Family::scan:
        case Family::contraction:
        case Family::convolution: return false;
        case Family::layout: return node.op != "concatenate";
        default: return true;
    }
}

// A reshape that does more than to insert or remove axes of extent 1.
static bool regroups(const Graph& graph, const Node& node) {
    if (node.op != "reshape") return false;
    const Shape& before = graph.at(node.operands[0]).shape;
    return !unit_insertion(before, node.shape) && !unit_insertion(node.shape, before);
}

bool is_view(const Graph& graph, const Node& node) {
    if (node.family != Family::layout || node.op == "concatenate" || node.op == "pad") return false;
    const Node& source = graph.at(node.operands[0]);
    bool moved = source.family == Family::layout && is_view(graph, source) && source.op != "reshape";
    return !regroups(graph, node) || !moved;
}

bool reads_from_memory(const Graph& graph, const Node& user, int operand) {
    if (!computes_in_place(graph.at(operand))) return true;
    if (user.family == Family::contraction || user.family == Family::convolution) return true;
    return user.family == Family::layout &&
           (user.op == "pad" || user.op == "window" || regroups(graph, user));
}

PlainLoops write_plain_loops(const Problem& problem, const Graph& graph) {
    return Writer(problem, graph).write();
}

std::string plain_helpers(const std::set<std::string>& used) {
    static const std::vector<std::pair<std::string, std::string>> texts = {{"max_of", R"(
// NaN where one of both is, as in NumPy.
template <class T> static inline T max_of(T a, T b) { return a != a || a > b ? a : b; }
)"},
                                                                           {"min_of", R"(
// NaN where one of both is, as in NumPy.
template <class T> static inline T min_of(T a, T b) { return a != a || a < b ? a : b; }
)"},
                                                                           {"sign_of", R"(
template <class T> static inline T sign_of(T a) { return a != a ? a : (T)((a > 0) - (a < 0)); }
)"},
                                                                           {"floor_divide", R"(
// Rounded down, as in Python.
template <class T> static inline T floor_divide(T a, T b) {
    if (std::is_floating_point<T>::value) return (T)std::floor(a / b);
    if (b == 0) return 0;
    const T quotient = a / b;
    return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
)"},
                                                                           {"remainder_of", R"(
// With the divisor's sign, as in Python.
template <class T> static inline T remainder_of(T a, T b) {
    if (!std::is_floating_point<T>::value && b == 0) return 0;
    const T rest = (T)std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)"},
                                                                           {"whole_power", R"(
template <class T> static inline T whole_power(T base, T exponent) {
    T result = 1;
    for (T i = 0; i < exponent; ++i) result *= base;
    return result;
}
)"}};
    std::string text;
    for (const auto& [name, helper] : texts)
        if (used.contains(name)) text += helper;
    return text;
}

}  // namespace strop::playbook
