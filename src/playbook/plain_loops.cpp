#include "playbook/plain_loops.h"
#include "playbook/values_in_place.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/strings.h"
#include "graph/operations.h"
#include "graph/rank.h"
#include "graph/rewrite.h"
#include "language/contract.h"
#include "playbook/contraction_text.h"
#include "playbook/halves.h"
#include "playbook/loop_text.h"
#include "playbook/plain_nest.h"
#include "playbook/plain_value.h"

namespace strop::playbook {

namespace {

// Places of one row whose results are held at a time: few enough for the first cache, many enough for vectors.
constexpr int64_t held_columns = 256;
constexpr int64_t scanned_at_a_time = 16;
constexpr size_t joined_parts = 8;  // of a concatenation, that one nest writes

// Whether neighbours along this axis of a node are neighbours in some input's memory, but for a step. Operands that are
// read again and again, with fewer axes than others, do not count.
bool runs_along_memory(const Graph& graph, int id, size_t axis) {
    const Node& node = graph.at(id);
    auto of = [&](size_t k) -> const Node& { return graph.at(node.operands[k]); };
    if (node.family == Family::input) return axis + 1 == node.shape.size();
    if (node.family == Family::pointwise) {
        size_t most = 0;
        for (size_t k = 0; k < node.operands.size(); ++k) most = std::max(most, long_axes(of(k).shape));
        for (size_t k = 0; k < node.operands.size(); ++k) {
            if (long_axes(of(k).shape) < most) continue;
            const size_t added = node.shape.size() - of(k).shape.size();
            if (axis >= added && !of(k).shape[axis - added].is_literal(1) &&
                runs_along_memory(graph, node.operands[k], axis - added))
                return true;
        }
        return false;
    }
    if (node.family != Family::layout || node.op == "concatenate") return false;
    const Shape& source = of(0).shape;
    const int from = node.operands[0];
    if (node.op == "transpose") return runs_along_memory(graph, from, static_cast<size_t>(node.axes[axis]));
    if (node.op == "broadcast") {
        const size_t added = node.shape.size() - source.size();
        return axis >= added && !source[axis - added].is_literal(1) && runs_along_memory(graph, from, axis - added);
    }
    if (node.op == "window" && axis >= source.size())
        return runs_along_memory(graph, from, static_cast<size_t>(node.axes[axis - source.size()]));
    if (node.op != "reshape") return runs_along_memory(graph, from, axis);
    const auto kept = unit_insertion(source, node.shape);
    for (size_t k = 0; kept && k < source.size(); ++k)
        if ((*kept)[k] == axis) return runs_along_memory(graph, from, k);
    return !kept && axis + 1 == node.shape.size() && !source.empty() &&
           runs_along_memory(graph, from, source.size() - 1);
}

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
        Lines body(1, function_head(problem_) + " {\n");
        for (size_t k = 0; k < graph_.outputs.size(); ++k)
            nest(graph_.at(graph_.outputs[k]), problem_.outputs.at(k), body);
        result_.body = body.text() + "}\n" + typed_entry(problem_);
        return std::move(result_);
    }

private:
    void nest(const Node& node, const Tensor& to, Lines& lines) {
        if (node.family == Family::layout && node.op == "concatenate") return concatenate(node, to, lines);
        LoopNest nest(graph_, taken_);
        if (sort(node, to, nest)) return finish(nest, lines);
        if (node.family == Family::scatter) return scatter(node, to, lines);
        if (node.family == Family::reduction && !operation_of(node)->in_double) locate(node, to, nest);
        else if (node.family == Family::reduction) reduce(node, to, nest);
        else if (node.family == Family::scan) scan(node, to, nest);
        else if (node.family == Family::contraction) contract(node, to, nest);
        else if (node.family == Family::convolution) convolve(node, to, nest);
        else copy(node, to, nest);
        finish(nest, lines);
    }

    void finish(LoopNest& nest, Lines& lines) {
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

    void copy(const Node& node, const Tensor& to, LoopNest& nest) {
        TermIndex index = nest.open(node.shape);
        Term value = nest.values.at(node.id, index);
        nest.before(nest.depth(), fmt::format("{} = {};", element(to, node.shape, index), value.text));
    }

    // float32 sums are carried in double: the order of NumPy's sums rounds less than one after the other. Those of a
    // few terms need it not.
    std::string carried_type(const Node& node) const {
        bool exact = node.op == "max" || node.op == "min" || !is_floating(node.dtype);
        const bool few = node.family == Family::reduction && node.op == "sum" && node.axes.size() == 1 &&
                         is_short_everywhere(graph_.at(node.operands[0]).shape[static_cast<size_t>(node.axes[0])]);
        return exact || few ? c_type(node.dtype) : "double";
    }

    static std::string start_of(const Operation& operation, DType dtype, const std::string& carried) {
        if (is_floating(dtype) && std::isinf(operation.start)) return plain_literal(operation.start, dtype);
        if (is_floating(dtype))
            return plain_literal(operation.start, carried == "float" ? DType::float32 : DType::float64);
        if (std::string(operation.name) == "max")
            return fmt::format("std::numeric_limits<{}>::lowest()", c_type(dtype));
        if (std::string(operation.name) == "min") return fmt::format("std::numeric_limits<{}>::max()", c_type(dtype));
        return plain_literal(operation.start, dtype);
    }

    std::string folded(const std::string& op, const std::string& type, const std::string& into, const Term& value,
                       LoopNest& nest) {
        if (op == "sum") return fmt::format("{} += {};", into, value.text);
        if (op == "prod") return fmt::format("{} *= {};", into, value.grouped());
        if (op == "any") return fmt::format("{} = {} || {};", into, into, value.grouped());
        if (op == "all") return fmt::format("{} = {} && {};", into, into, value.grouped());
        std::string helper = op == "max" ? "max_of" : "min_of";
        nest.values.helpers.insert(helper);
        return fmt::format("{0} = {1}<{2}>({0}, {3});", into, helper, type, value.text);
    }

    // Loops over the axes that stay, then over those that go; the index into the operand. Where the last of those
    // that stay runs along memory, its loop is the innermost, in tiles, and each thread holds a row of results.
    struct ReducedIndex {
        TermIndex source, result;
        int outer = 0;                             // depth of the loops around one result, or one tile of results
        std::optional<LoopNest::Tiled> columns;    // of results
        std::optional<LoopNest::Tiled> stretches;  // of the innermost axis that goes
        std::optional<Expression> whole;           // its extent, where an input has it side by side: no loop is open
        std::string held;                          // "[j - begin]" with columns
    };
    enum class Inner { anything, stretches, stretches_or_whole };

    ReducedIndex open_reduction(const Node& node, Inner inner, LoopNest& nest) {
        const Shape& shape = graph_.at(node.operands[0]).shape;
        std::vector<size_t> stay, go;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            bool gone = std::find(node.axes.begin(), node.axes.end(), static_cast<int>(axis)) != node.axes.end();
            (gone ? go : stay).push_back(axis);
        }
        // Short rows are no loop for vectors: those of many results side by side are.
        const bool short_rows = go.size() == 1 && is_short_everywhere(shape[go.back()]);
        const bool columns = !stay.empty() && !shape[stay.back()].is_literal(1) &&
                             (short_rows || runs_along_memory(graph_, node.operands[0], stay.back()));
        ReducedIndex index;
        index.source.assign(shape.size(), Term{"0", 0, true});
        for (size_t axis : stay)
            if (!columns || axis != stay.back()) index.source[axis] = nest.open(shape[axis]);
        if (columns) index.columns = nest.open_tiles(shape[stay.back()], held_columns);
        index.outer = nest.depth();
        const bool cut = inner != Inner::anything && !columns && !go.empty() && !is_short(shape[go.back()]);
        const bool whole = cut && inner == Inner::stretches_or_whole && lies_along(node.operands[0], go.back());
        for (size_t axis : go)
            if (!cut || axis != go.back()) index.source[axis] = nest.open(shape[axis], true);
        if (whole) index.whole = shape[go.back()];
        if (cut && !whole) index.stretches = nest.open_tiles(shape[go.back()], held_columns, true);
        if (cut && !whole) index.source[go.back()] = nest.open_tile(*index.stretches, true);
        if (columns) {
            Term column = nest.open_tile(*index.columns);
            index.held = fmt::format("[{} - {}]", column.text, index.columns->begin);
            index.source[stay.back()] = column;
        }
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            bool stays = std::find(stay.begin(), stay.end(), axis) != stay.end();
            if (stays) index.result.push_back(index.source[axis]);
            if (!stays && node.keepdims) index.result.push_back({"0", 0, true});
        }
        return index;
    }

    // An input's own memory, whose elements need no conversion first.
    bool lies_along(int id, size_t axis) const {
        const Node& node = graph_.at(id);
        return node.family == Family::input && axis + 1 == node.shape.size() && !is_half(node.dtype) &&
               node.dtype != DType::boolean;
    }

    static bool is_short(const Expression& extent) {
        return extent.is_literal() && extent.evaluate_integer({}) <= scanned_at_a_time;
    }

    bool is_short_everywhere(const Expression& extent) const {
        return std::all_of(problem_.points.begin(), problem_.points.end(), [&](const ShapePoint& point) {
            return extent.evaluate_integer(bindings_of(problem_, point.dims)) <= scanned_at_a_time;
        });
    }

    // A result, or a row of them, that starts as `start`.
    void declare(const std::string& type, const std::string& name, const std::string& start, const ReducedIndex& index,
                 const TermIndex& places, LoopNest& nest) {
        if (!index.columns) return nest.before(index.outer, fmt::format("{} {} = {};", type, name, start));
        nest.before(index.outer, fmt::format("{} {}[{}];", type, name, index.columns->size));
        for_columns(index, places, fmt::format("{}{} = {};", name, index.held, start),
                    [&](const std::string& line) { nest.before(index.outer, line); });
    }

    template <class Add>
    static void for_columns(const ReducedIndex& index, const TermIndex& places, const std::string& statement, Add add) {
        add(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", places.back().text, index.columns->begin,
                        index.columns->end));
        add("    " + statement);
    }

    // The index of the columns alone, for loops of their own.
    static TermIndex column_of(const ReducedIndex& index) {
        for (const Term& term : index.source)
            if (index.columns && fmt::format("[{} - {}]", term.text, index.columns->begin) == index.held) return {term};
        return {{"0", 0, true}};
    }

    void reduce(const Node& node, const Tensor& to, LoopNest& nest) {
        const Operation& operation = *operation_of(node);
        const bool in_lanes = node.op == "sum" || node.op == "max" || node.op == "min";
        ReducedIndex index = open_reduction(node, in_lanes ? Inner::stretches_or_whole : Inner::anything, nest);
        std::string type = carried_type(node), total = nest.values.fresh(node.op == "sum" ? "total" : "folded");
        declare(type, total, start_of(operation, node.dtype, type), index, column_of(index), nest);
        if (index.whole) {
            nest.runs_over(*index.whole);
            Term first = nest.values.at(node.operands[0], index.source);
            Term part{fmt::format("{}_in<{}>(&{}, {})", node.op, type, first.text, extent_term(*index.whole).text), 0,
                      true};
            nest.values.helpers.insert(node.op + "_in");
            nest.before(nest.depth(), folded(node.op, type, total, part, nest));
        } else if (index.stretches) {
            std::string parts = hold_stretch(node.operands[0], c_type(node.dtype), index, nest);
            Term part{fmt::format("{}_in<{}>({})", node.op, type, parts), 0, true};
            nest.values.helpers.insert(node.op + "_in");
            nest.after(nest.depth() - 1, folded(node.op, type, total, part, nest));
        } else {
            Term value = nest.values.at(node.operands[0], index.source);
            nest.before(nest.depth(), folded(node.op, type, total + index.held, value, nest));
        }
        store_reduced(node, to, total, index, nest);
    }

    // Whether a node is one of a sort (graph/rank.h), which is written by a function for each row.
    bool sort(const Node& node, const Tensor& to, LoopNest& nest) {
        if (parts_of_sort(graph_, node).empty()) return false;
        if (const std::optional<Rank> rank = rank_of(graph_, node)) {
            sort_rows(*rank, "places_in", {}, node, to, nest);
        } else if (const std::optional<Rank> order = order_of(graph_, node)) {
            const Expression length = graph_.at(order->source).shape.back();
            sort_rows(*order, "order_in", {order->limit.value_or(length)}, node, to, nest);
        } else if (const std::optional<Sorted> sorted = sorted_of(graph_, node)) {
            sort_rows(sorted->rank, "sorted_in", {sorted->begin, sorted->end}, node, to, nest);
        }
        return true;
    }

    // A row that does not lie in memory is copied first.
    void sort_rows(const Rank& rank, const std::string& function, const std::vector<Expression>& bounds,
                   const Node& node, const Tensor& to, LoopNest& nest) {
        const Node& source = graph_.at(rank.source);
        const Expression& length = source.shape.back();
        TermIndex index;
        for (size_t axis = 0; axis + 1 < source.shape.size(); ++axis) index.push_back(nest.open(source.shape[axis]));
        index.push_back({"0", 0, true});
        const int outer = nest.depth();
        const std::string result = element(to, node.shape, index);
        std::string row;
        if (lies_along(rank.source, source.shape.size() - 1)) {
            nest.runs_over(length);
            row = "&" + nest.values.at(rank.source, index).text;
        } else {
            row = nest.values.fresh("row");
            nest.before(outer, fmt::format("{0}* const {1} = sorting_row<{0}>({2});", c_type(source.dtype), row,
                                           extent_term(length).text));
            index.back() = nest.open(length, true);
            const Term value = nest.values.at(rank.source, index);
            nest.before(nest.depth(), fmt::format("{}[{}] = {};", row, index.back().text, value.text));
        }
        std::string arguments = fmt::format("{}, {}", row, extent_term(length).text);
        for (const Expression& bound : bounds) arguments += ", " + extent_term(bound).text;
        nest.values.helpers.insert(function);
        nest.after(outer,
                   fmt::format("{}<{}>({}, &{});", function, rank.descending ? "true" : "false", arguments, result));
    }

    // Values of a stretch in an array of their own; "values, end - begin".
    std::string hold_stretch(int id, const std::string& type, const ReducedIndex& index, LoopNest& nest) {
        const LoopNest::Tiled& stretch = *index.stretches;
        std::string held = nest.values.fresh("stretch");
        nest.before(nest.depth() - 1, fmt::format("{} {}[{}];", type, held, stretch.size));
        Term value = nest.values.at(id, index.source);
        Term last{"", 0, true};
        for (const Term& term : index.source)
            if (term.depth == nest.depth()) last = term;
        nest.before(nest.depth(), fmt::format("{}[{} - {}] = {};", held, last.text, stretch.begin, value.text));
        return fmt::format("{}, {} - {}", held, stretch.end, stretch.begin);
    }

    void store_reduced(const Node& node, const Tensor& to, const std::string& value, const ReducedIndex& index,
                       LoopNest& nest) {
        if (!index.columns) return store(node, to, index.result, value, index.outer, nest);
        for_columns(
            index, column_of(index),
            fmt::format("{} = {}{}{};", element(to, node.shape, index.result), cast_to(node), value, index.held),
            [&](const std::string& line) { nest.after(index.outer, line); });
    }

    static std::string cast_to(const Node& node) { return node.dtype == DType::float32 ? "(float)" : ""; }

    void store(const Node& node, const Tensor& to, const TermIndex& index, const std::string& value, int depth,
               LoopNest& nest) {
        std::string text = fmt::format("{} = {}{};", element(to, node.shape, index), cast_to(node), value);
        if (depth == nest.depth()) nest.before(depth, text);
        else nest.after(depth, text);
    }

    // The first place of the extremum; the first NaN is the extremum.
    void locate(const Node& node, const Tensor& to, LoopNest& nest) {
        ReducedIndex index = open_reduction(node, Inner::stretches, nest);
        const Node& source = graph_.at(node.operands[0]);
        std::string best = nest.values.fresh("best"), place = nest.values.fresh("best_place");
        std::string type = c_type(source.dtype), extremum = node.op.substr(3);
        const bool floating = is_floating(source.dtype);
        std::string start = fmt::format("std::numeric_limits<{}>::{}()", type, extremum == "max" ? "lowest" : "max");
        if (floating) start = extremum == "max" ? "-INFINITY" : "INFINITY";
        declare(type, best, start, index, column_of(index), nest);
        declare("int64_t", place, "0", index, column_of(index), nest);
        std::string candidate = nest.values.fresh("candidate");
        std::string known = best + index.held;
        std::string better = fmt::format("{} {} {}", candidate, extremum == "max" ? ">" : "<", known);
        if (floating)
            better = fmt::format("({}) | (({} != {}) & ({} == {}))", better, candidate, candidate, known, known);
        const Term& at = index.source[static_cast<size_t>(node.axes.at(0))];
        if (index.stretches) {
            const int depth = nest.depth() - 1;
            std::string held = hold_stretch(source.id, type, index, nest);
            nest.values.helpers.insert({extremum + "_in", "place_in"});
            nest.after(depth, fmt::format("const {0} {1} = {2}_in<{0}>({3});", type, candidate, extremum, held));
            nest.after(depth, fmt::format("if ({}) {{", better));
            nest.after(depth, fmt::format("{} = {};", best, candidate));
            nest.after(depth,
                       fmt::format("{} = {} + place_in({}, {});", place, index.stretches->begin, candidate, held));
            nest.after(depth, "}");
        } else {
            Term value = nest.values.at(source.id, index.source);
            std::string is_better = nest.values.fresh("better");
            nest.before(nest.depth(), fmt::format("const {} {} = {};", type, candidate, value.text));
            nest.before(nest.depth(), fmt::format("const bool {} = {};", is_better, better));
            nest.before(nest.depth(), fmt::format("{0} = {1} ? {2} : {0};", known, is_better, candidate));
            nest.before(nest.depth(), fmt::format("{0} = {1} ? {2} : {0};", place + index.held, is_better, at.text));
        }
        store_reduced(node, to, place, index, nest);
    }

    void scan(const Node& node, const Tensor& to, LoopNest& nest) {
        const size_t along = static_cast<size_t>(node.axes.at(0)), last = node.shape.size() - 1;
        const std::string type = carried_type(node), start = start_of(*operation_of(node), node.dtype, type);
        const bool columns = along != last && !node.shape[last].is_literal(1);
        ReducedIndex index;
        index.source.assign(node.shape.size(), Term{"0", 0, true});
        for (size_t axis = 0; axis < node.shape.size(); ++axis)
            if (axis != along && !(columns && axis == last)) index.source[axis] = nest.open(node.shape[axis]);
        if (columns) index.columns = nest.open_tiles(node.shape[last], held_columns);
        index.outer = nest.depth();
        if (!columns && node.op != "prod" && !is_short(node.shape[along]))
            return scan_in_parts(node, to, index.source, nest);
        index.source[along] = nest.open(node.shape[along], true);
        if (columns) {
            index.source[last] = nest.open_tile(*index.columns);
            index.held = fmt::format("[{} - {}]", index.source[last].text, index.columns->begin);
        }
        std::string running = nest.values.fresh("running");
        declare(type, running, start, index, column_of(index), nest);
        Term value = nest.values.at(node.operands[0], index.source);
        nest.before(nest.depth(), folded(node.op, type, running + index.held, value, nest));
        store(node, to, index.source, running + index.held, nest.depth(), nest);
    }

    // Short parts are scanned by themselves, so that one step in many waits for the one before.
    void scan_in_parts(const Node& node, const Tensor& to, TermIndex place, LoopNest& nest) {
        const size_t along = static_cast<size_t>(node.axes.at(0));
        const std::string type = carried_type(node), start = start_of(*operation_of(node), node.dtype, type);
        std::string running = nest.values.fresh("running"), part = nest.values.fresh("part"),
                    parts = nest.values.fresh("parts");
        nest.before(nest.depth(), fmt::format("{} {} = {};", type, running, start));
        LoopNest::Tiled tiles = nest.open_tiles(node.shape[along], scanned_at_a_time, true);
        const int outer = nest.depth();
        nest.before(outer, fmt::format("{} {} = {}, {}[{}];", type, part, start, parts, tiles.size));
        place[along] = nest.open_tile(tiles, true);
        Term value = nest.values.at(node.operands[0], place);
        const std::string held = fmt::format("{}[{} - {}]", parts, place[along].text, tiles.begin);
        nest.before(nest.depth(), folded(node.op, type, part, value, nest));
        nest.before(nest.depth(), fmt::format("{} = {};", held, part));
        const std::string whole = node.op == "sum" ? fmt::format("({} + {})", running, held)
                                                   : fmt::format("{}_of<{}>({}, {})", node.op, type, running, held);
        nest.after(outer,
                   fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", place[along].text, tiles.begin, tiles.end));
        nest.after(outer, fmt::format("    {} = {}{};", element(to, node.shape, place), cast_to(node), whole));
        nest.after(outer, folded(node.op, type, running, {part, 0, true}, nest));
    }

    void contract(const Node& node, const Tensor& to, LoopNest& nest) {
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
        nest.before(outer, fmt::format("{} {} = 0;", carried_type(node), total));
        Term product = times(labelled(node, 0, places, nest), labelled(node, 1, places, nest));
        nest.before(nest.depth(), fmt::format("{} += {};", total, product.text));
        store(node, to, result, total, outer, nest);
    }

    Term labelled(const Node& node, size_t side, const std::map<char, Term>& places, LoopNest& nest) {
        const Node& source = graph_.at(node.operands[side]);
        TermIndex index;
        for (size_t axis = 0; axis < source.shape.size(); ++axis)
            index.push_back(source.shape[axis].is_literal(1) ? Term{"0", 0, true} : places.at(node.labels[side][axis]));
        return nest.values.at(source.id, index);
    }

    void convolve(const Node& node, const Tensor& to, LoopNest& nest) {
        const Node& image = graph_.at(node.operands[0]);
        const Node& filters = graph_.at(node.operands[1]);
        TermIndex out = nest.open(node.shape);
        const int outer = nest.depth();
        TermIndex tap;
        for (size_t axis = 1; axis < filters.shape.size(); ++axis) tap.push_back(nest.open(filters.shape[axis], true));
        std::string total = nest.values.fresh("total");
        nest.before(outer, fmt::format("{} {} = 0;", carried_type(node), total));
        Term channel = tap[0];
        if (!node.groups.is_literal(1)) {
            Term filters_of_group = extent_term(Expression::floor_divide(filters.shape[0], node.groups));
            Term group{fmt::format("{} / {}", out[1].grouped(), filters_of_group.grouped()), out[1].depth, false};
            channel = plus(times(group, extent_term(filters.shape[1])), channel);
        }
        TermIndex from = {out[0], channel}, with = {out[1], tap[0]};
        for (size_t s = 0; s < node.stride.size(); ++s) {
            Term at =
                plus(times(out[s + 2], extent_term(node.stride[s])), times(tap[s + 1], extent_term(node.dilation[s])));
            if (!node.padding[s].is_literal(0)) {
                std::string place = nest.values.fresh(s + 1 == node.stride.size() ? "x" : "y");
                Term padding = extent_term(node.padding[s]);
                nest.before(at.depth, fmt::format("const int64_t {} = {} - {};", place, at.text, padding.grouped()));
                nest.before(at.depth, fmt::format("if ({0} < 0 || {0} >= {1}) continue;", place,
                                                  extent_term(image.shape[s + 2]).text));
                at = {place, at.depth, true};
            }
            from.push_back(at);
            with.push_back(tap[s + 1]);
        }
        Term product = times(nest.values.at(image.id, from), nest.values.at(filters.id, with));
        nest.before(nest.depth(), fmt::format("{} += {};", total, product.text));
        store(node, to, out, total, outer, nest);
    }

    // A copy of the target, into which the source goes. Threads share all axes but the one along which it is scattered,
    // so that what meets in one place meets in the order of the source.
    void scatter(const Node& node, const Tensor& to, Lines& lines) {
        const size_t along = static_cast<size_t>(node.axes.at(0)), last = node.shape.size() - 1;
        LoopNest copies(graph_, taken_);
        TermIndex index = copies.open(node.shape);
        copies.before(copies.depth(), fmt::format("{} = {};", element(to, node.shape, index),
                                                  copies.values.at(node.operands[0], index).text));
        finish(copies, lines);

        LoopNest nest(graph_, taken_);
        const Node &indices = graph_.at(node.operands[1]), &source = graph_.at(node.operands[2]);
        const bool columns = along != last && !source.shape[last].is_literal(1);
        index.assign(source.shape.size(), Term{"0", 0, true});
        for (size_t axis = 0; axis < index.size(); ++axis)
            if (axis != along && !(columns && axis == last)) index[axis] = nest.open(source.shape[axis]);
        std::optional<LoopNest::Tiled> tiles;
        if (columns) tiles = nest.open_tiles(source.shape[last], held_columns);
        index[along] = nest.open(source.shape[along], true);
        if (columns) index[last] = nest.open_tile(*tiles);
        TermIndex at_index = index;
        for (size_t axis = 0; axis < index.size(); ++axis)
            if (indices.shape[axis].is_literal(1)) at_index[axis] = {"0", 0, true};
        const Term drawn = nest.values.at(indices.id, at_index);
        const std::string place = nest.values.fresh("place");
        nest.before(drawn.depth, fmt::format("int64_t {} = {};", place, drawn.text));
        nest.before(drawn.depth, fmt::format("if ({0} < 0) {0} += {1};", place, extent_term(node.shape[along]).text));
        const Term value = nest.values.at(source.id, index);
        TermIndex target = index;
        target[along] = {place, drawn.depth, true};
        const std::string into = element(to, node.shape, target);
        nest.before(nest.depth(), folded(node.op, c_type(node.dtype), into, value, nest));
        finish(nest, lines);
    }

    // Parts of one extent share a nest, so that what several of them read is computed once.
    void concatenate(const Node& node, const Tensor& to, Lines& lines) {
        const size_t along = static_cast<size_t>(node.axes.at(0)), parts = node.operands.size();
        const auto extent_of = [&](size_t part) { return graph_.at(node.operands[part]).shape[along]; };
        Expression begin = 0;
        for (size_t first = 0, last = 0; first < parts; first = last) {
            while (last < parts && last < first + joined_parts && extent_of(last) == extent_of(first)) ++last;
            Shape shape = node.shape;
            shape[along] = extent_of(first);
            LoopNest nest(graph_, taken_);
            const TermIndex places = nest.open(shape);
            for (size_t part = first; part < last; ++part) {
                const Node& source = graph_.at(node.operands[part]);
                TermIndex from = places, into = places;
                for (size_t axis = 0; axis < from.size(); ++axis)
                    if (source.shape[axis].is_literal(1)) from[axis] = {"0", 0, true};
                const Term value = nest.values.at(source.id, from);
                into[along] = plus(into[along], extent_term(begin));
                nest.before(nest.depth(), fmt::format("{} = {};", element(to, node.shape, into), value.text));
                begin = begin + extent_of(part);
            }
            finish(nest, lines);
        }
    }

    const Problem& problem_;
    const Graph& graph_;
    std::set<std::string> taken_;
    PlainLoops result_;
};

}  // namespace

bool is_joined_in_one_nest(const Graph& graph, const Node& node) {
    if (node.family != Family::layout || node.op != "concatenate" || node.operands.size() > joined_parts) return false;
    const size_t along = static_cast<size_t>(node.axes.at(0));
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](int id) { return graph.at(id).shape[along] == graph.at(node.operands[0]).shape[along]; });
}

PlainLoops write_plain_loops(const Problem& problem, const Graph& graph) { return Writer(problem, graph).write(); }

}  // namespace strop::playbook
