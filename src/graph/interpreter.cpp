#include "graph/interpreter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "graph/operations.h"

namespace strop {

namespace {

using Index = std::vector<int64_t>;

// Every index of `shape`, the last axis fastest.
template <class Visit>
void each_index(const Index& shape, Visit visit) {
    Index index(shape.size());
    for (int64_t flat = 0, count = element_count(shape); flat < count; ++flat) {
        visit(std::as_const(index), static_cast<size_t>(flat));
        for (size_t axis = shape.size(); axis-- > 0;) {
            if (++index[axis] < shape[axis]) break;
            index[axis] = 0;
        }
    }
}

size_t offset_of(const Index& shape, const Index& index) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) offset = offset * shape[axis] + index[axis];
    return static_cast<size_t>(offset);
}

// The element that broadcasts to `index`, which may have more axes.
double broadcast_at(const Array& array, const Index& index) {
    int64_t offset = 0;
    const size_t added = index.size() - array.shape.size();
    for (size_t axis = 0; axis < array.shape.size(); ++axis)
        offset = offset * array.shape[axis] + (array.shape[axis] == 1 ? 0 : index[axis + added]);
    return array.values[static_cast<size_t>(offset)];
}

class Interpreter {
public:
    Interpreter(const Graph& graph, const Arguments& arguments, Precision precision)
        : graph_(graph),
          arguments_(arguments),
          precision_(precision),
          values_(graph.nodes.size()) {}

    std::vector<Array> run(const std::vector<int>& wanted) {
        std::vector<char> needed(graph_.nodes.size(), 0);
        for (int id : wanted) needed.at(static_cast<size_t>(id)) = 1;
        for (size_t i = graph_.nodes.size(); i-- > 0;)
            if (needed[i])
                for (int operand : graph_.nodes[i].operands) needed[static_cast<size_t>(operand)] = 1;
        for (const Node& node : graph_.nodes)
            if (needed[static_cast<size_t>(node.id)]) values_[static_cast<size_t>(node.id)] = value_of(node);
        std::vector<Array> result;
        for (int id : wanted) result.push_back(values_[static_cast<size_t>(id)]);
        return result;
    }

private:
    const Graph& graph_;
    const Arguments& arguments_;
    Precision precision_;
    std::vector<Array> values_;
    struct Steps;
    mutable std::map<LoopKey, Steps> loops_;  // of which several results may be read

    const Array& operand(const Node& node, size_t i) const { return values_[static_cast<size_t>(node.operands.at(i))]; }
    int64_t integer(const Expression& expression) const { return expression.evaluate_integer(arguments_.bindings); }
    Index integers(const std::vector<Expression>& expressions) const {
        Index result;
        for (const Expression& expression : expressions) result.push_back(integer(expression));
        return result;
    }
    bool single(const Node& node) const { return precision_ == Precision::stored && node.dtype == DType::float32; }
    double rounded(double value, const Node& node) const {
        return precision_ == Precision::stored || !is_floating(node.dtype) ? as_stored(value, node.dtype) : value;
    }
    [[noreturn]] static void fail(const Node& node, const std::string& what) {
        throw UsageError(fmt::format("graph node {}: {}", node.id, what));
    }

    Array value_of(const Node& node) const {
        Array result{integers(node.shape), {}};
        for (int64_t extent : result.shape)
            if (extent < 0) fail(node, fmt::format("an extent of {}", extent));
        result.values.resize(static_cast<size_t>(element_count(result.shape)));
        switch (node.family) {
            case Family::input: return input(node, result.shape);
            case Family::parameter:
            case Family::constant: result.values = {scalar(node)}; break;
            case Family::pointwise: pointwise(node, result); break;
            case Family::reduction: reduction(node, result); break;
            case Family::scan: scan(node, result); break;
            case Family::contraction: contraction(node, result); break;
            case Family::convolution: convolution(node, result); break;
            case Family::layout: layout(node, result); break;
            case Family::gather: gather(node, result); break;
            case Family::scatter: scatter(node, result); break;
            case Family::repeat: return repeat(node, result.shape);
            case Family::iota:
                each_index(result.shape, [&](const Index& index, size_t flat) {
                    result.values[flat] = static_cast<double>(index[static_cast<size_t>(node.axes[0])]);
                });
                break;
        }
        return result;
    }

    Array input(const Node& node, const Index& shape) const {
        auto found = arguments_.inputs.find(node.op);
        if (found == arguments_.inputs.end()) fail(node, "no input '" + node.op + "'");
        if (found->second.shape != shape) fail(node, "input '" + node.op + "' has another shape");
        return found->second;
    }

    double scalar(const Node& node) const {
        if (node.family == Family::parameter) {
            auto found = arguments_.bindings.find(node.op);
            if (found == arguments_.bindings.end()) fail(node, "no parameter '" + node.op + "'");
            return rounded(to_double(found->second), node);
        }
        return rounded(node.dim ? to_double(node.dim->evaluate(arguments_.bindings)) : node.value, node);
    }

    // ---- arithmetic --------------------------------------------------------------------------------------

    double apply(const Operation& operation, const Node& node, const double* operands, size_t count) const {
        if (!operation.in_double) return rounded(operands[0], node);  // a cast
        bool floats = precision_ == Precision::stored && computes_in_single(node);
        if (!floats) return rounded(operation.in_double(operands), node);
        float narrow[3];
        for (size_t i = 0; i < count; ++i) narrow[i] = static_cast<float>(operands[i]);
        return rounded(static_cast<double>(operation.in_float(narrow)), node);
    }

    bool computes_in_single(const Node& node) const {
        if (node.dtype == DType::float32) return true;
        return std::any_of(node.operands.begin(), node.operands.end(),
                           [&](int id) { return graph_.at(id).dtype == DType::float32; });
    }

    const Operation& operation(const Node& node) const {
        const Operation* found = operation_of(node);
        if (!found) fail(node, fmt::format("no {} '{}'", name_of(node.family), node.op));
        return *found;
    }

    void pointwise(const Node& node, Array& result) const {
        const Operation& meaning = operation(node);
        each_index(result.shape, [&](const Index& index, size_t flat) {
            double operands[most_operands];
            for (size_t i = 0; i < node.operands.size(); ++i) operands[i] = broadcast_at(operand(node, i), index);
            result.values[flat] = apply(meaning, node, operands, node.operands.size());
        });
    }

    // The place in the result of an element of the operand.
    static size_t reduced_offset(const Node& node, const Index& shape, const Index& index) {
        int64_t offset = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            bool gone = std::find(node.axes.begin(), node.axes.end(), static_cast<int>(axis)) != node.axes.end();
            if (!gone) offset = offset * shape[axis] + index[axis];
        }
        return static_cast<size_t>(offset);
    }

    void reduction(const Node& node, Array& result) const {
        const Array& source = operand(node, 0);
        const Operation& meaning = operation(node);
        if (!meaning.in_double) return position(node, result);
        std::fill(result.values.begin(), result.values.end(), meaning.start);
        each_index(source.shape, [&](const Index& index, size_t flat) {
            double& folded = result.values[reduced_offset(node, source.shape, index)];
            double pair[2] = {folded, source.values[flat]};
            folded = apply(meaning, node, pair, 2);
        });
    }

    // The first position of the extremum along one axis; the first NaN wins.
    void position(const Node& node, Array& result) const {
        const Array& source = operand(node, 0);
        const bool largest = node.op == "argmax";
        std::vector<double> best(result.values.size(), NAN);
        std::vector<char> seen(result.values.size(), 0);
        each_index(source.shape, [&](const Index& index, size_t flat) {
            size_t place = reduced_offset(node, source.shape, index);
            double value = source.values[flat];
            bool better = !std::isnan(best[place]) &&
                          (std::isnan(value) || (largest ? value > best[place] : value < best[place]));
            if (seen[place] && !better) return;
            seen[place] = 1;
            best[place] = value;
            result.values[place] = static_cast<double>(index[static_cast<size_t>(node.axes.at(0))]);
        });
    }

    void scan(const Node& node, Array& result) const {
        const Array& source = operand(node, 0);
        const Operation& meaning = operation(node);
        const size_t axis = static_cast<size_t>(node.axes.at(0));
        each_index(source.shape, [&](const Index& index, size_t flat) {
            double pair[2] = {meaning.start, source.values[flat]};
            if (index[axis] > 0) {
                Index before = index;
                --before[axis];
                pair[0] = result.values[offset_of(source.shape, before)];
            }
            result.values[flat] = apply(meaning, node, pair, 2);
        });
    }

    void contraction(const Node& node, Array& result) const {
        std::map<char, int64_t> extents;
        for (size_t side = 0; side < 2; ++side)
            for (size_t axis = 0; axis < node.labels[side].size(); ++axis) {
                int64_t& extent = extents.try_emplace(node.labels[side][axis], 1).first->second;
                extent = extent == 1 ? operand(node, side).shape[axis] : extent;
            }
        std::string summed;
        Index depth;
        for (const auto& [label, extent] : extents)
            if (node.labels[2].find(label) == std::string::npos) {
                summed += label;
                depth.push_back(extent);
            }
        const std::string all = node.labels[2] + summed;
        each_index(result.shape, [&](const Index& outer, size_t flat) {
            double total = 0;
            each_index(depth, [&](const Index& inner, size_t) {
                Index index = outer;
                index.insert(index.end(), inner.begin(), inner.end());
                total = added(node, total, labelled(node, 0, all, index) * labelled(node, 1, all, index));
            });
            result.values[flat] = rounded(total, node);
        });
    }

    // total + term in the precision of the node; the product of two floats is exact in double.
    double added(const Node& node, double total, double term) const {
        return single(node) ? static_cast<double>(static_cast<float>(total + term)) : total + term;
    }

    double labelled(const Node& node, size_t side, const std::string& all, const Index& index) const {
        const Array& source = operand(node, side);
        Index own;
        for (size_t axis = 0; axis < source.shape.size(); ++axis)
            own.push_back(source.shape[axis] == 1 ? 0 : index[all.find(node.labels[side][axis])]);
        return source.values[offset_of(source.shape, own)];
    }

    void convolution(const Node& node, Array& result) const {
        const Array& x = operand(node, 0);
        const Array& w = operand(node, 1);
        const Index stride = integers(node.stride), padding = integers(node.padding),
                    dilation = integers(node.dilation);
        const int64_t filters = w.shape.at(0) / integer(node.groups), channels = w.shape.at(1);
        Index taps(w.shape.begin() + 1, w.shape.end());
        each_index(result.shape, [&](const Index& out, size_t flat) {
            double total = 0;
            each_index(taps, [&](const Index& tap, size_t) {
                Index from = {out[0], out[1] / std::max<int64_t>(filters, 1) * channels + tap[0]};
                Index with = {out[1], tap[0]};
                for (size_t s = 0; s < stride.size(); ++s) {
                    int64_t at = out[s + 2] * stride[s] + tap[s + 1] * dilation[s] - padding[s];
                    if (at < 0 || at >= x.shape[s + 2]) return;
                    from.push_back(at);
                    with.push_back(tap[s + 1]);
                }
                total = added(node, total, x.values[offset_of(x.shape, from)] * w.values[offset_of(w.shape, with)]);
            });
            result.values[flat] = rounded(total, node);
        });
    }

    // ---- elements that move ------------------------------------------------------------------------------

    void layout(const Node& node, Array& result) const {
        const Array& source = operand(node, 0);
        if (node.op == "reshape") {
            if (source.values.size() != result.values.size()) fail(node, "reshape to another size");
            result.values = source.values;
            return;
        }
        if (node.op == "concatenate") return concatenate(node, result);
        each_index(result.shape, [&](const Index& index, size_t flat) {
            if (node.op == "broadcast") {
                result.values[flat] = broadcast_at(source, index);
                return;
            }
            Index from = source_index(node, source.shape, index);
            bool inside = true;
            for (size_t axis = 0; axis < from.size(); ++axis)
                inside = inside && from[axis] >= 0 && from[axis] < source.shape[axis];
            if (!inside && node.op != "pad") fail(node, node.op + " reaches outside its operand");
            result.values[flat] = inside ? source.values[offset_of(source.shape, from)] : rounded(node.pad_value, node);
        });
    }

    Index source_index(const Node& node, const Index& shape, const Index& index) const {
        Index from(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(shape.size()));
        if (node.op == "transpose") {
            for (size_t axis = 0; axis < index.size(); ++axis) from[static_cast<size_t>(node.axes[axis])] = index[axis];
        } else if (node.op == "slice") {
            for (size_t axis = 0; axis < from.size(); ++axis)
                from[axis] = integer(node.begin[axis]) + index[axis] * integer(node.step[axis]);
        } else if (node.op == "pad") {
            for (size_t axis = 0; axis < from.size(); ++axis) from[axis] -= integer(node.begin[axis]);
        } else if (node.op == "window") {
            for (size_t k = 0; k < node.axes.size(); ++k)
                from[static_cast<size_t>(node.axes[k])] += index[shape.size() + k];
        } else if (node.op == "reverse") {
            for (int axis : node.axes) {
                size_t a = static_cast<size_t>(axis);
                from[a] = shape[a] - 1 - from[a];
            }
        } else {
            fail(node, "no layout '" + node.op + "'");
        }
        return from;
    }

    void concatenate(const Node& node, Array& result) const {
        const size_t axis = static_cast<size_t>(node.axes.at(0));
        int64_t begin = 0;
        for (size_t part = 0; part < node.operands.size(); ++part) {
            const Array& source = operand(node, part);
            Index shape = result.shape;  // parts may broadcast along the other axes
            shape[axis] = source.shape.at(axis);
            each_index(shape, [&](const Index& index, size_t) {
                Index to = index;
                to[axis] += begin;
                result.values[offset_of(result.shape, to)] = broadcast_at(source, index);
            });
            begin += source.shape[axis];
        }
        if (begin != result.shape[axis]) fail(node, "the parts do not add up");
    }

    void gather(const Node& node, Array& result) const {
        const Array& source = operand(node, 0);
        const Array& indices = operand(node, 1);
        const size_t axis = static_cast<size_t>(node.axes.at(0));
        each_index(result.shape, [&](const Index& index, size_t flat) {
            Index from = index;
            int64_t at = 0;
            if (node.op == "take_along") {
                at = static_cast<int64_t>(broadcast_at(indices, index));
            } else {
                auto first = index.begin() + static_cast<std::ptrdiff_t>(axis);
                auto last = first + static_cast<std::ptrdiff_t>(indices.shape.size());
                at = static_cast<int64_t>(indices.values[offset_of(indices.shape, Index(first, last))]);
                from.assign(index.begin(), first);
                from.push_back(0);
                from.insert(from.end(), last, index.end());
            }
            if (at < 0) at += source.shape[axis];
            if (at < 0 || at >= source.shape[axis]) fail(node, fmt::format("index {} outside its axis", at));
            from[axis] = at;
            result.values[flat] = source.values[offset_of(source.shape, from)];
        });
    }

    // ---- loops -------------------------------------------------------------------------------------------

    Array repeat(const Node& node, const Index& shape) const {
        const LoopKey key = loop_of(node);
        auto known = loops_.find(key);
        if (known == loops_.end()) known = loops_.emplace(key, all_steps(node)).first;
        const size_t result = static_cast<size_t>(node.result);
        Array value = node.op == "last" ? known->second.last[result] : known->second.stacks[result];
        value.shape = shape;  // a stack of no steps knows its own from the node alone
        if (value.values.size() != static_cast<size_t>(element_count(shape))) fail(node, "a loop of another shape");
        return value;
    }

    struct Steps {
        std::vector<Array> last, stacks;
    };

    Steps all_steps(const Node& node) const {
        const Repeat& loop = *node.loop;
        const size_t states = static_cast<size_t>(loop.states);
        const int64_t count = integer(loop.count);
        Arguments inside{{}, arguments_.bindings};
        for (size_t k = 0; k < node.operands.size(); ++k) inside.inputs[std::to_string(k)] = operand(node, k);
        Steps steps;
        for (size_t k = 0; k < states; ++k) steps.last.push_back(operand(node, k));
        steps.stacks.resize(loop.body.outputs.size());
        for (int64_t step = 0; step < count; ++step) {
            inside.bindings[loop.step] = step;
            std::vector<Array> made = Interpreter(loop.body, inside, precision_).run(loop.body.outputs);
            for (size_t k = 0; k < made.size(); ++k)
                steps.stacks[k].values.insert(steps.stacks[k].values.end(), made[k].values.begin(),
                                              made[k].values.end());
            for (size_t k = 0; k < states; ++k) {
                inside.inputs[std::to_string(k)] = made[k];
                steps.last[k] = std::move(made[k]);
            }
        }
        return steps;
    }

    void scatter(const Node& node, Array& result) const {
        const Array& indices = operand(node, 1);
        const Array& source = operand(node, 2);
        const Operation& meaning = *find_operation(Family::reduction, node.op);
        const size_t axis = static_cast<size_t>(node.axes.at(0));
        result.values = operand(node, 0).values;
        each_index(source.shape, [&](const Index& index, size_t flat) {
            int64_t at = static_cast<int64_t>(broadcast_at(indices, index));
            if (at < 0) at += result.shape[axis];
            if (at < 0 || at >= result.shape[axis]) fail(node, fmt::format("index {} outside its axis", at));
            Index to = index;
            to[axis] = at;
            double& value = result.values[offset_of(result.shape, to)];
            double pair[2] = {value, source.values[flat]};
            value = apply(meaning, node, pair, 2);
        });
    }
};

}  // namespace

int64_t element_count(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
}

double as_stored(double value, DType dtype) {
    switch (dtype) {
        case DType::float32: return static_cast<double>(static_cast<float>(value));
        case DType::float64: return value;
        case DType::boolean: return value != 0;
        default: break;
    }
    if (!std::isfinite(value)) return 0;
    double whole = std::trunc(value);
    if (dtype == DType::int8) return static_cast<double>(static_cast<int8_t>(static_cast<int64_t>(whole)));
    if (dtype == DType::uint8) return static_cast<double>(static_cast<uint8_t>(static_cast<int64_t>(whole)));
    if (dtype == DType::int32) return static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(whole)));
    return whole;
}

std::vector<Array> interpret(const Graph& graph, const Arguments& arguments, Precision precision,
                             const std::vector<int>& nodes) {
    return Interpreter(graph, arguments, precision).run(nodes);
}

std::vector<Array> interpret(const Graph& graph, const Arguments& arguments, Precision precision) {
    return interpret(graph, arguments, precision, graph.outputs);
}

}  // namespace strop
