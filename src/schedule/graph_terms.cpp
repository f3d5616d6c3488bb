#include "schedule/graph_terms.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/operations.h"
#include "graph/rewrite.h"

namespace strop::schedule {

namespace {

Expression remainder(const Expression& a, const Expression& b) {
    if (b.is_literal(1)) return Expression(0);
    return Expression::parse(fmt::format("({}) % ({})", a.text(), b.text()));
}

Expression condition(const Expression& a, const char* sign, const Expression& b) {
    return Expression::parse(fmt::format("({}) {} ({})", a.text(), sign, b.text()));
}

Expression both(const std::vector<Expression>& conditions) {
    std::string text;
    for (const Expression& one : conditions) text += (text.empty() ? "" : " and ") + one.text();
    return Expression::parse(text);
}

}  // namespace

Expression product_of(const std::vector<Expression>& extents) {
    Expression product = 1;
    for (const Expression& extent : extents) product = product * extent;
    return product;
}

Index unflattened(const Expression& place, const std::vector<Expression>& shape) {
    Index index(shape.size(), Expression(0));
    Expression below = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
        if (shape[axis].is_literal(1)) continue;
        const Expression quotient = Expression::floor_divide(place, below);
        const bool outermost = std::all_of(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis),
                                           [](const Expression& extent) { return extent.is_literal(1); });
        index[axis] = outermost ? quotient : remainder(quotient, shape[axis]);
        below = below * shape[axis];
    }
    return index;
}

Index regrouped(const Index& index, const std::vector<Expression>& to, const std::vector<Expression>& from) {
    Index result(from.size(), Expression(0));
    for (size_t i = 0, j = 0; i < to.size() || j < from.size();) {
        const auto [i_end, j_end] = next_run_of_axes(to, i, from, j);
        Expression place = 0;
        for (; i < i_end; ++i) place = place * to[i] + (to[i].is_literal(1) ? Expression(0) : index[i]);
        const Index part = unflattened(
            place, {from.begin() + static_cast<std::ptrdiff_t>(j), from.begin() + static_cast<std::ptrdiff_t>(j_end)});
        std::copy(part.begin(), part.end(), result.begin() + static_cast<std::ptrdiff_t>(j));
        j = j_end;
    }
    return result;
}

int GraphTerms::add(Term term) {
    std::string key =
        fmt::format("{} {} {} {} ", static_cast<int>(term.kind), static_cast<int>(term.dtype), term.value, term.name);
    for (const Expression& expression : term.at) key += expression.text() + ";";
    for (int operand : term.operands) key += fmt::format(" {}", operand);
    key += term.place;
    auto [known, added] = known_.emplace(key, static_cast<int>(terms_.size()));
    if (added) terms_.push_back(std::move(term));
    return known->second;
}

int GraphTerms::number(double value, DType dtype) { return add({Term::Kind::number, dtype, value, "", {}, {}, ""}); }

int GraphTerms::index(const Expression& expression, DType dtype) {
    if (expression.is_literal()) return number(to_double(expression.evaluate({})), dtype);
    return add({Term::Kind::index, dtype, 0, "", {expression}, {}, ""});
}

int GraphTerms::pointwise(const std::string& op, std::vector<int> operands, DType dtype) {
    return add({Term::Kind::pointwise, dtype, 0, op, {}, std::move(operands), ""});
}

int GraphTerms::guarded(const Expression& condition, int inside, int outside) {
    const DType dtype = terms_[static_cast<size_t>(inside)].dtype;
    return add({Term::Kind::guarded, dtype, 0, "", {condition}, {inside, outside}, ""});
}

int GraphTerms::missing(const std::string& what) {
    if (lacks_.empty()) lacks_ = what;
    return number(0, DType::float32);
}

void GraphTerms::know(int node, const Index& index, const std::string& name) {
    results_[node] = {index, name};
    terms_of_.clear();
}

int GraphTerms::at(int id, const Index& index) {
    if (auto known = terms_of_.find({id, index}); known != terms_of_.end()) return known->second;
    const int term = made(graph_.at(id), index);
    terms_of_[{id, index}] = term;
    return term;
}

int GraphTerms::made(const Node& node, const Index& index) {
    if (auto known = results_.find(node.id); known != results_.end()) {
        if (known->second.index != index)
            return missing(fmt::format("'{}' at other positions than it is known at", node.op));
        return result(known->second.name, node.dtype);
    }
    switch (node.family) {
        case Family::input: return load(node.op, node.dtype, place_of(index, node.shape));
        case Family::parameter: return add({Term::Kind::parameter, node.dtype, 0, node.op, {}, {}, ""});
        case Family::constant: return node.dim ? this->index(*node.dim, node.dtype) : number(node.value, node.dtype);
        case Family::iota: return this->index(index[static_cast<size_t>(node.axes[0])], node.dtype);
        case Family::pointwise: return spread(node, index);
        case Family::layout: return layout(node, index);
        case Family::gather: return gathered(node, index);
        default: return missing(fmt::format("{} '{}' in the middle of a launch", name_of(node.family), node.op));
    }
}

int GraphTerms::load(const std::string& tensor, DType dtype, const Index& index) {
    return add({Term::Kind::load, dtype, 0, tensor, index, {}, ""});
}

int GraphTerms::result(const std::string& name, DType dtype) {
    return add({Term::Kind::result, dtype, 0, name, {}, {}, ""});
}

int GraphTerms::spread(const Node& node, const Index& index) {
    std::vector<int> operands;
    for (int id : node.operands) {
        const Node& source = graph_.at(id);
        Index own(index.end() - static_cast<std::ptrdiff_t>(source.shape.size()), index.end());
        for (size_t axis = 0; axis < own.size(); ++axis)
            if (source.shape[axis].is_literal(1)) own[axis] = 0;
        operands.push_back(at(id, own));
    }
    return pointwise(node.op, std::move(operands), node.dtype);
}

int GraphTerms::layout(const Node& node, const Index& index) {
    if (node.op == "pad") return padded(node, index);
    if (node.op == "concatenate") return joined(node, index);
    const Node& source = graph_.at(node.operands[0]);
    Index from(source.shape.size(), Expression(0));
    if (node.op == "transpose") {
        for (size_t axis = 0; axis < index.size(); ++axis) from[static_cast<size_t>(node.axes[axis])] = index[axis];
    } else if (node.op == "broadcast") {
        const size_t added = node.shape.size() - source.shape.size();
        for (size_t axis = 0; axis < from.size(); ++axis)
            if (!source.shape[axis].is_literal(1)) from[axis] = index[axis + added];
    } else if (node.op == "slice") {
        for (size_t axis = 0; axis < from.size(); ++axis) from[axis] = node.begin[axis] + index[axis] * node.step[axis];
    } else if (node.op == "window") {
        std::copy(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(from.size()), from.begin());
        for (size_t k = 0; k < node.axes.size(); ++k) {
            Expression& place = from[static_cast<size_t>(node.axes[k])];
            place = place + index[source.shape.size() + k];
        }
    } else if (node.op == "reverse") {
        from = index;
        for (int axis : node.axes) {
            Expression& place = from[static_cast<size_t>(axis)];
            place = source.shape[static_cast<size_t>(axis)] - Expression(1) - place;
        }
    } else if (node.op == "reshape") {
        from = regrouped(index, node.shape, source.shape);
    } else {
        return missing(fmt::format("layout '{}'", node.op));
    }
    return at(source.id, from);
}

int GraphTerms::padded(const Node& node, const Index& index) {
    const Node& source = graph_.at(node.operands[0]);
    Index from = index;
    std::vector<Expression> inside;
    for (size_t axis = 0; axis < from.size(); ++axis) {
        const bool before = !node.begin[axis].is_literal(0), after = !node.end[axis].is_literal(0);
        if (before) inside.push_back(condition(index[axis], ">=", node.begin[axis]));
        from[axis] = index[axis] - node.begin[axis];
        if (after) inside.push_back(condition(from[axis], "<", source.shape[axis]));
    }
    if (inside.empty()) return at(source.id, from);
    return guarded(both(inside), at(source.id, from), number(node.pad_value, node.dtype));
}

// One part after the other: the last needs no condition.
int GraphTerms::joined(const Node& node, const Index& index) {
    const size_t axis = static_cast<size_t>(node.axes[0]);
    std::vector<Expression> ends = {Expression(0)};
    for (int part : node.operands) ends.push_back(ends.back() + graph_.at(part).shape[axis]);
    int result = -1;
    for (size_t part = node.operands.size(); part-- > 0;) {
        const Node& source = graph_.at(node.operands[part]);
        Index from = index;
        from[axis] = index[axis] - ends[part];
        for (size_t other = 0; other < from.size(); ++other)
            if (other != axis && source.shape[other].is_literal(1)) from[other] = 0;
        const int value = at(source.id, from);
        result = result < 0 ? value : guarded(condition(index[axis], "<", ends[part + 1]), value, result);
    }
    return result;
}

int GraphTerms::gathered(const Node& node, const Index& index) {
    const Node& source = graph_.at(node.operands[0]);
    const Node& indices = graph_.at(node.operands[1]);
    const size_t axis = static_cast<size_t>(node.axes[0]);
    Index from = index, where = index;
    if (node.op == "take") {
        const auto first = index.begin() + static_cast<std::ptrdiff_t>(axis);
        const auto last = first + static_cast<std::ptrdiff_t>(indices.shape.size());
        where.assign(first, last);
        from.assign(index.begin(), first);
        from.push_back(0);
        from.insert(from.end(), last, index.end());
    }
    for (size_t k = 0; k < where.size(); ++k)
        if (indices.shape[k].is_literal(1)) where[k] = 0;
    const int given = at(indices.id, where);
    const int extent = this->index(source.shape[axis], DType::int64);
    const int below = pointwise("less", {given, number(0, DType::int64)}, DType::boolean);
    const int wrapped = pointwise("add", {given, extent}, DType::int64);
    Term place{Term::Kind::pointwise, DType::int64, 0, "where", {}, {below, wrapped, given}, ""};
    place.place = fmt::format("place_{}", terms_.size());
    for (const Term& known : terms_)  // the same place, asked for again
        if (known.name == place.name && known.operands == place.operands && !known.place.empty())
            place.place = known.place;
    const std::string name = place.place;
    add(std::move(place));
    from[axis] = Expression::symbol(name);
    return at(source.id, from);
}

}  // namespace strop::schedule
