#include "graph/rewrite.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/error.h"

namespace strop {

Shape broadcast(const std::vector<Shape>& shapes) {
    size_t rank = 0;
    for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
    Shape result(rank, Expression(1));
    for (const Shape& shape : shapes)
        for (size_t i = 0; i < shape.size(); ++i) {
            Expression& extent = result[rank - shape.size() + i];
            bool simpler = shape[i].text().size() < extent.text().size() && !shape[i].is_literal(1);
            if (extent.is_literal(1) || simpler) extent = shape[i];
        }
    return result;
}

bool is_permutation_identity(const std::vector<int>& axes) {
    for (size_t i = 0; i < axes.size(); ++i)
        if (axes[i] != static_cast<int>(i)) return false;
    return true;
}

std::vector<int> inverse(const std::vector<int>& permutation) {
    std::vector<int> result(permutation.size());
    for (size_t i = 0; i < permutation.size(); ++i) result[static_cast<size_t>(permutation[i])] = static_cast<int>(i);
    return result;
}

Node laid_out(const Node& source, const std::string& op, const Shape& shape) {
    Node node;
    node.family = Family::layout;
    node.op = op;
    node.operands = {source.id};
    node.shape = shape;
    node.dtype = source.dtype;
    return node;
}

Node copied(const Node& source, DType dtype) {
    Node node;
    node.family = Family::pointwise;
    node.op = "cast";
    node.operands = {source.id};
    node.shape = source.shape;
    node.dtype = dtype;
    return node;
}

Node whole_slice(const Node& source) {
    Node slice = laid_out(source, "slice", source.shape);
    slice.end = source.shape;
    slice.begin.assign(source.shape.size(), 0);
    slice.step.assign(source.shape.size(), 1);
    return slice;
}

size_t long_axes(const Shape& shape) {
    return static_cast<size_t>(
        std::count_if(shape.begin(), shape.end(), [](const Expression& extent) { return !extent.is_literal(1); }));
}

std::pair<size_t, size_t> next_run_of_axes(const Shape& to, size_t i, const Shape& from, size_t j) {
    auto positions = [](const Shape& shape, size_t begin, size_t end) {
        Expression product = 1;
        for (size_t axis = begin; axis < end; ++axis) product = product * shape[axis];
        return product;
    };
    for (size_t length = 1; length < to.size() - i + from.size() - j; ++length)
        for (size_t left = length; left-- > 0;) {
            const size_t i_end = i + left, j_end = j + length - left;
            if (i_end <= to.size() && j_end <= from.size() &&
                same_value(positions(to, i, i_end), positions(from, j, j_end)))
                return {i_end, j_end};
        }
    return {to.size(), from.size()};
}

std::optional<std::vector<size_t>> unit_insertion(const Shape& shorter, const Shape& longer) {
    std::vector<size_t> places;
    size_t next = 0;
    for (size_t i = 0; i < longer.size(); ++i) {
        bool rest_fits = longer.size() - i > shorter.size() - next;
        if (next < shorter.size() && shorter[next] == longer[i] && !(longer[i].is_literal(1) && rest_fits)) {
            places.push_back(i);
            ++next;
        } else if (!longer[i].is_literal(1)) {
            return std::nullopt;
        }
    }
    if (next != shorter.size()) return std::nullopt;
    return places;
}

bool same_value(const Expression& a, const Expression& b) {
    std::set<std::string> names = a.symbols();
    names.merge(b.symbols());
    // Distinct primes: polynomials and quotients that agree on all of them are one (Schwartz and Zippel).
    constexpr int64_t primes[] = {101, 211, 307, 401, 503, 601, 701, 809, 907, 1009, 1103, 1201, 1301};
    for (size_t round = 0; round < 4; ++round) {
        Bindings bindings;
        size_t next = round;
        for (const std::string& name : names) bindings[name] = primes[(next += 2 * round + 1) % std::size(primes)];
        try {
            if (to_double(a.evaluate(bindings)) != to_double(b.evaluate(bindings))) return false;
        } catch (const UsageError&) {
            return false;  // overflow or division by zero: nothing is known
        }
    }
    return true;
}

bool only_leading_ones(const Shape& inner, const Shape& outer) {
    if (inner.size() > outer.size()) return false;
    size_t added = outer.size() - inner.size();
    for (size_t i = 0; i < added; ++i)
        if (!outer[i].is_literal(1)) return false;
    return std::equal(inner.begin(), inner.end(), outer.begin() + static_cast<std::ptrdiff_t>(added));
}

int GraphWriter::add(Node node) {
    node.id = static_cast<int>(nodes_.size());
    std::string key = describe_node(node);
    auto [found, inserted] = known_.emplace(key, node.id);
    if (!inserted) return found->second;
    Node anonymous = node;
    anonymous.operands.clear();
    std::string text = describe_node(anonymous);
    for (int operand : node.operands) text += "(" + digest(operand) + ")";
    // A fixed-length stand-in keeps shared subgraphs from growing without bound.
    digests_.push_back(text.size() > 64 ? fmt::format("{:016x}", std::hash<std::string>{}(text)) : text);
    nodes_.push_back(std::move(node));
    return found->second;
}

int GraphWriter::constant(double value, DType dtype) {
    Node node;
    node.family = Family::constant;
    node.value = value;
    node.dtype = dtype;
    return add(std::move(node));
}

int GraphWriter::pointwise(const std::string& op, const std::vector<int>& operands, DType dtype) {
    Node node;
    node.family = Family::pointwise;
    node.op = op;
    node.operands = operands;
    node.dtype = dtype;
    std::vector<Shape> shapes;
    for (int operand : operands) shapes.push_back(at(operand).shape);
    node.shape = broadcast(shapes);
    return add(std::move(node));
}

int GraphWriter::reshape(int id, const Shape& shape) {
    if (at(id).shape == shape) return id;
    if (at(id).family == Family::layout && at(id).op == "reshape") return reshape(at(id).operands[0], shape);
    return add(laid_out(at(id), "reshape", shape));
}

int GraphWriter::transpose(int id, const std::vector<int>& permutation) {
    if (is_permutation_identity(permutation)) return id;
    const Node& source = at(id);
    Node node;
    node.family = Family::layout;
    node.op = "transpose";
    node.dtype = source.dtype;
    if (source.family == Family::layout && source.op == "transpose") {
        std::vector<int> composed;
        for (int axis : permutation) composed.push_back(source.axes[static_cast<size_t>(axis)]);
        return transpose(source.operands[0], composed);
    }
    std::vector<int> moving;  // unit axes may go anywhere without moving an element
    for (int axis : permutation) {
        node.shape.push_back(source.shape[static_cast<size_t>(axis)]);
        if (!node.shape.back().is_literal(1)) moving.push_back(axis);
    }
    if (std::is_sorted(moving.begin(), moving.end())) return reshape(id, node.shape);
    node.operands = {id};
    node.axes = permutation;
    return add(std::move(node));
}

Graph GraphWriter::finish(const std::vector<int>& outputs) const {
    Graph result;
    std::map<int, int> places;
    std::function<int(int)> place = [&](int id) {
        auto found = places.find(id);
        if (found != places.end()) return found->second;
        Node node = at(id);
        for (int& operand : node.operands) operand = place(operand);
        node.id = static_cast<int>(result.nodes.size());
        result.nodes.push_back(std::move(node));
        return places[id] = result.nodes.back().id;
    };
    for (int id : outputs) result.outputs.push_back(place(id));
    return result;
}

}  // namespace strop
