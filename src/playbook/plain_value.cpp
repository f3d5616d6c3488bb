#include "playbook/plain_value.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/operations.h"
#include "graph/rewrite.h"
#include "playbook/plain_loops.h"
#include "playbook/pointwise.h"

namespace strop::playbook {

namespace {

constexpr double costly = 5;  // an operation of which more is not repeated

Term combined(const std::string& text, const std::vector<Term>& parts, bool atomic = false) {
    Term term{text, 0, atomic};
    for (const Term& part : parts) term.depth = std::max(term.depth, part.depth);
    return term;
}

// The place of `index` in row-major memory of this shape.
Term offset_of(const Shape& shape, const TermIndex& index) {
    Term offset{"0", 0, true};
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        offset = times(offset, extent_term(shape[axis]));
        if (!shape[axis].is_literal(1)) offset = plus(offset, index[axis]);
    }
    return offset;
}

// A linear place as an index into this shape.
TermIndex unflattened(const Term& place, const Shape& shape) {
    TermIndex index(shape.size(), Term{"0", 0, true});
    Expression below = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
        if (shape[axis].is_literal(1)) continue;
        Term coordinate = place;
        if (!below.is_literal(1))
            coordinate = combined(place.grouped() + " / " + extent_term(below).grouped(), {place});
        bool first = true;
        for (size_t before = 0; before < axis; ++before) first = first && shape[before].is_literal(1);
        if (!first)
            coordinate = combined(coordinate.grouped() + " % " + extent_term(shape[axis]).grouped(), {coordinate});
        index[axis] = coordinate;
        below = below * shape[axis];
    }
    return index;
}

// A place in `to`, which `from` was reshaped to, as an index into `from`.
TermIndex regrouped(const TermIndex& index, const Shape& to, const Shape& from) {
    TermIndex result;
    for (size_t i = 0, j = 0; i < to.size() || j < from.size();) {
        const auto [i_end, j_end] = next_run_of_axes(to, i, from, j);
        const auto part = [](const auto& of, size_t begin, size_t end) {
            return std::remove_cvref_t<decltype(of)>(of.begin() + static_cast<std::ptrdiff_t>(begin),
                                                     of.begin() + static_cast<std::ptrdiff_t>(end));
        };
        const Term place = offset_of(part(to, i, i_end), part(index, i, i_end));
        const TermIndex of_run = unflattened(place, part(from, j, j_end));
        result.insert(result.end(), of_run.begin(), of_run.end());
        i = i_end;
        j = j_end;
    }
    return result;
}

const char* infix_of(const std::string& op) {
    static const std::map<std::string, const char*> signs = {
        {"add", "+"},         {"subtract", "-"},    {"multiply", "*"},     {"divide", "/"},
        {"less", "<"},        {"less_equal", "<="}, {"greater", ">"},      {"greater_equal", ">="},
        {"equal", "=="},      {"not_equal", "!="},  {"logical_and", "&&"}, {"logical_or", "||"},
        {"bitwise_and", "&"}, {"bitwise_or", "|"},  {"bitwise_xor", "^"}};
    auto found = signs.find(op);
    return found == signs.end() ? nullptr : found->second;
}

// A product that is added to something whose exponential is taken: what is subtracted may be the largest such product,
// and a multiply-add would keep the digits that the largest one has lost.
bool is_left_in_an_exponent(const Graph& graph, const Node& node) {
    if (node.dtype != DType::float32 || (node.op != "multiply" && node.op != "square")) return false;
    for (int user : graph.users(node.id)) {
        if (graph.at(user).op != "add" && graph.at(user).op != "subtract") continue;
        for (int reader : graph.users(user))
            if (graph.at(reader).op == "exp" || graph.at(reader).op == "expm1") return true;
    }
    return false;
}

bool reads_memory(const Graph& graph, int id) {
    const Node& node = graph.at(id);
    return node.family == Family::input ||
           std::any_of(node.operands.begin(), node.operands.end(), [&](int one) { return reads_memory(graph, one); });
}

}  // namespace

Term plus(const Term& a, const Term& b) {
    if (a.text == "0") return b;
    if (b.text == "0") return a;
    return combined(a.text + " + " + b.text, {a, b});
}

Term times(const Term& a, const Term& b) {
    if (a.text == "0" || b.text == "1") return a;
    if (b.text == "0" || a.text == "1") return b;
    return combined(a.grouped() + " * " + b.grouped(), {a, b});
}

Term extent_term(const Expression& extent) { return {extent.cpp(), 0, extent.is_symbol() || extent.is_literal()}; }

std::string plain_literal(double value, DType dtype) {
    if (dtype == DType::boolean) return value != 0 ? "true" : "false";
    if (!is_floating(dtype)) return std::to_string(static_cast<int64_t>(value));
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    std::string text =
        dtype == DType::float32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return dtype == DType::float32 ? text + "f" : text;
}

std::string PlainValues::fresh(const std::string& name) {
    std::string unique = name;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = name + "_" + std::to_string(i);
    return unique;
}

Term PlainValues::missing(const std::string& what) {
    if (lacks.empty()) lacks = what;
    return {"0", 0, true};
}

int PlainValues::uses(int id) const {
    int count = 0;
    for (const Node& node : graph_.nodes)
        count += static_cast<int>(std::count(node.operands.begin(), node.operands.end(), id));
    return count;
}

Term PlainValues::at(int id, const TermIndex& index) {
    const Node& node = graph_.at(id);
    std::string place;
    for (const Term& term : index) place += term.text + ",";
    auto known = known_.find({id, place});
    if (known != known_.end()) return known->second;
    Term term;
    switch (node.family) {
        case Family::input: term = memory(node, index); break;
        case Family::parameter: term = {node.op, 0, true}; break;
        case Family::constant: {
            std::string text = node.dim ? fmt::format("({})({})", c_type(node.dtype), node.dim->cpp())
                                        : plain_literal(node.value, node.dtype);
            term = {text, 0, text[0] != '-'};
            break;
        }
        case Family::iota: term = index[static_cast<size_t>(node.axes[0])]; break;
        case Family::pointwise: term = named(pointwise(node, index), node); break;
        case Family::layout: term = layout(node, index, false); break;
        case Family::gather: term = named(gathered(node, index), node); break;
        default: term = missing(name_of(node.family) + " '" + node.op + "' inside plain loops"); break;
    }
    known_[{id, place}] = term;
    return term;
}

Term PlainValues::read(int id, const TermIndex& index) {
    const Node& node = graph_.at(id);
    if (node.family == Family::layout && node.op != "pad") return layout(node, index, true);
    if (node.family == Family::input || !reads_memory(graph_, id)) return at(id, index);
    return missing("a value of its own under a condition");
}

Term PlainValues::memory(const Node& node, const TermIndex& index) const {
    if (node.shape.empty()) return {node.op + "[0]", 0, true};
    Term offset = offset_of(node.shape, index);
    return combined(node.op + "[" + offset.text + "]", {offset}, true);
}

// What is costly, or used twice, gets a statement, in the outermost loop that knows it.
Term PlainValues::named(const Term& term, const Node& node) {
    const Operation* operation = operation_of(node);
    const int readers = uses(node.id);
    bool worth = (operation && operation->cost >= costly) || readers > 1 || term.text.size() > 70;
    if (!worth || readers == 0) return term;
    std::string name = fresh(node.family == Family::gather ? "gathered" : word_for(node.op));
    add(term.depth, fmt::format("const {} {} = {};", c_type(node.dtype), name, term.text));
    return {name, term.depth, true};
}

Term PlainValues::pointwise(const Node& node, const TermIndex& index) {
    std::vector<Term> operands;
    for (int id : node.operands) {
        const Node& source = graph_.at(id);
        TermIndex own(index.end() - static_cast<std::ptrdiff_t>(source.shape.size()), index.end());
        for (size_t axis = 0; axis < own.size(); ++axis)
            if (source.shape[axis].is_literal(1)) own[axis] = {"0", 0, true};
        operands.push_back(at(id, own));
    }
    const Term term = formula(node, operands);
    if (is_left_in_an_exponent(graph_, node) || rounded_.contains(node.id)) return rounded(term);
    if (!exceeds_its_type(node.op, node.dtype)) return term;
    return combined(fmt::format("({}){}", c_type(node.dtype), term.grouped()), {term}, true);
}

// To its type, before anything is added to it.
Term PlainValues::rounded(const Term& product) {
    if (no_bits_.empty()) {
        helpers.insert("rounded");
        no_bits_ = fresh("no_bits");
        add(0, fmt::format("const int32_t {} = unknown_zero;", no_bits_));
    }
    return combined(fmt::format("rounded({}, {})", product.text, no_bits_), {product}, true);
}

Term PlainValues::formula(const Node& node, const std::vector<Term>& operands) {
    const std::string& op = node.op;
    if (operands.size() == 1) return one_operand(node, operands[0]);
    const Term &a = operands[0], &b = operands[1];
    if (op == "where") {
        std::string text = a.grouped() + " ? " + b.grouped() + " : " + operands[2].grouped();
        return combined(text, operands);
    }
    const auto is_truth = [&](int id) { return graph_.at(id).dtype == DType::boolean; };
    if ((op == "logical_and" || op == "logical_or") &&
        std::all_of(node.operands.begin(), node.operands.end(), is_truth))
        // Both are computed: a loop without branches becomes vectors.
        return combined(fmt::format("{} {} {}", a.grouped(), op == "logical_and" ? "&" : "|", b.grouped()), operands);
    if (const char* sign = infix_of(op))
        return combined(fmt::format("{} {} {}", a.grouped(), sign, b.grouped()), operands);
    const bool floating = is_floating(node.dtype);
    auto call = [&](const std::string& function) {
        helpers.insert(function);
        std::string type = c_type(node.dtype);
        return combined(fmt::format("{}<{}>({}, {})", function, type, a.text, b.text), operands, true);
    };
    if (op == "maximum") return call("max_of");
    if (op == "minimum") return call("min_of");
    if (op == "floor_divide") return call("floor_divide");
    if (op == "remainder") return call("remainder_of");
    if (op == "left_shift") return call("shifted_left");
    if (op == "right_shift") return call("shifted_right");
    if (op == "power" && floating) return combined(fmt::format("std::pow({}, {})", a.text, b.text), operands, true);
    if (op == "power") return call("whole_power");
    return missing("pointwise '" + op + "'");
}

Term PlainValues::one_operand(const Node& node, const Term& a) {
    static const std::map<std::string, const char*> functions = {
        {"exp", "std::exp"},         {"exp2", "std::exp2"},   {"expm1", "std::expm1"},   {"log", "std::log"},
        {"log2", "std::log2"},       {"log1p", "std::log1p"}, {"sqrt", "std::sqrt"},     {"tanh", "std::tanh"},
        {"erf", "std::erf"},         {"atan", "std::atan"},   {"lgamma", "std::lgamma"}, {"sin", "std::sin"},
        {"cos", "std::cos"},         {"floor", "std::floor"}, {"ceil", "std::ceil"},     {"absolute", "std::abs"},
        {"round", "std::nearbyint"}, {"isnan", "std::isnan"}};
    const std::string& op = node.op;
    auto text = [&](const std::string& written, bool atomic = false) { return combined(written, {a}, atomic); };
    const std::string one = plain_literal(1, node.dtype);
    // The library's are called for one value at a time; of these the compiler makes vectors.
    static const std::set<std::string> in_vectors = {"exp", "expm1", "log", "tanh", "erf", "sin", "cos"},
                                       of_doubles = {"exp", "expm1", "log", "tanh"};
    const bool exponential = op == "exp" || op == "sigmoid";
    const bool vectors = (node.dtype == DType::float32 && (in_vectors.contains(op) || exponential)) ||
                         (node.dtype == DType::float64 && (of_doubles.contains(op) || exponential));
    if (vectors) helpers.insert(op == "sigmoid" ? "exp_of" : op + "_of");
    if (vectors && op == "sigmoid") return text(fmt::format("{0} / ({0} + exp_of(-{1}))", one, a.grouped()));
    if (vectors) return text(fmt::format("{}_of({})", op, a.text), true);
    if (auto found = functions.find(op); found != functions.end())
        return text(fmt::format("{}({})", found->second, a.text), true);
    if (op == "negative") return text("-" + a.grouped());
    if (op == "reciprocal") return text(one + " / " + a.grouped());
    if (op == "rsqrt") return text(fmt::format("{} / std::sqrt({})", one, a.text));
    if (op == "sigmoid") return text(fmt::format("{} / ({} + std::exp(-{}))", one, one, a.grouped()));
    if (op == "logical_not") return text("!" + a.grouped());
    if (op == "cast" && node.dtype == DType::boolean) return text(a.grouped() + " != 0");
    if (op == "cast") return text(fmt::format("({}){}", c_type(node.dtype), a.grouped()));
    if (op == "sign") {
        helpers.insert("sign_of");
        return text("sign_of(" + a.text + ")", true);
    }
    if (op == "square") {
        Term base = a;
        if (!a.atomic || a.text.find('(') != std::string::npos) {
            base.text = fresh("base");
            base.atomic = true;
            add(a.depth, fmt::format("const {} {} = {};", c_type(node.dtype), base.text, a.text));
        }
        return combined(base.text + " * " + base.text, {base});
    }
    return missing("pointwise '" + op + "'");
}

Term PlainValues::layout(const Node& node, const TermIndex& index, bool conditional) {
    const Node& source = graph_.at(node.operands[0]);
    if (node.op == "pad") return padded(node, index);
    TermIndex from(source.shape.size(), Term{"0", 0, true});
    if (node.op == "transpose") {
        for (size_t axis = 0; axis < index.size(); ++axis) from[static_cast<size_t>(node.axes[axis])] = index[axis];
    } else if (node.op == "broadcast") {
        size_t added = node.shape.size() - source.shape.size();
        for (size_t axis = 0; axis < from.size(); ++axis)
            if (!source.shape[axis].is_literal(1)) from[axis] = index[axis + added];
    } else if (node.op == "slice") {
        for (size_t axis = 0; axis < from.size(); ++axis)
            from[axis] = plus(times(index[axis], extent_term(node.step[axis])), extent_term(node.begin[axis]));
    } else if (node.op == "window") {
        for (size_t axis = 0; axis < from.size(); ++axis) from[axis] = index[axis];
        for (size_t k = 0; k < node.axes.size(); ++k) {
            Term& place = from[static_cast<size_t>(node.axes[k])];
            place = plus(place, index[source.shape.size() + k]);
        }
    } else if (node.op == "reverse") {
        from = index;
        for (int axis : node.axes) {
            Term& place = from[static_cast<size_t>(axis)];
            Term extent = extent_term(source.shape[static_cast<size_t>(axis)]);
            place = combined(fmt::format("{} - 1 - {}", extent.grouped(), place.grouped()), {place});
        }
    } else if (node.op == "reshape") {
        if (source.family == Family::input) {
            const Term place = offset_of(node.shape, index);
            return combined(source.op + "[" + place.text + "]", {place}, true);
        }
        from = regrouped(index, node.shape, source.shape);
    } else {
        return missing("layout '" + node.op + "' inside plain loops");
    }
    return conditional ? read(source.id, from) : at(source.id, from);
}

Term PlainValues::padded(const Node& node, const TermIndex& index) {
    const Node& source = graph_.at(node.operands[0]);
    TermIndex from = index;
    std::vector<std::string> inside;
    for (size_t axis = 0; axis < from.size(); ++axis) {
        bool before = !node.begin[axis].is_literal(0), after = !node.end[axis].is_literal(0);
        if (before) {
            Term begin = extent_term(node.begin[axis]);
            from[axis] = combined(index[axis].grouped() + " - " + begin.grouped(), {index[axis]});
            inside.push_back(fmt::format("{} >= {}", index[axis].text, begin.text));
        }
        if (after) inside.push_back(fmt::format("{} < {}", from[axis].text, extent_term(source.shape[axis]).text));
        if (from[axis].text != index[axis].text) from[axis].atomic = false;
    }
    Term value = read(source.id, from);
    std::string text =
        fmt::format("{} ? {} : {}", join(inside, " && "), value.text, plain_literal(node.pad_value, node.dtype));
    std::vector<Term> parts(index.begin(), index.end());
    return combined(text, parts);
}

Term PlainValues::gathered(const Node& node, const TermIndex& index) {
    const Node& source = graph_.at(node.operands[0]);
    const Node& indices = graph_.at(node.operands[1]);
    const size_t axis = static_cast<size_t>(node.axes[0]), rank = indices.shape.size();
    TermIndex from = index, place = index;
    if (node.op == "take") {
        auto first = index.begin() + static_cast<std::ptrdiff_t>(axis);
        auto last = first + static_cast<std::ptrdiff_t>(rank);
        place.assign(first, last);
        from.assign(index.begin(), first);
        from.push_back({"0", 0, true});
        from.insert(from.end(), last, index.end());
    }
    for (size_t k = 0; k < place.size(); ++k)
        if (indices.shape[k].is_literal(1)) place[k] = {"0", 0, true};
    Term at_index = at(indices.id, place);
    std::string name = fresh("place");
    add(at_index.depth, fmt::format("const int64_t {} = {};", name, at_index.text));
    std::string extent = extent_term(source.shape[axis]).grouped();
    from[axis] = {fmt::format("{} < 0 ? {} + {} : {}", name, name, extent, name), at_index.depth, false};
    from[axis].text = from[axis].grouped();
    from[axis].atomic = true;
    return at(source.id, from);
}

}  // namespace strop::playbook
