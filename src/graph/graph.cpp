#include "graph/graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/strings.h"
#include "graph/decisions.h"
#include "graph/operations.h"
#include "graph/rewrite.h"

namespace strop {

namespace {

using Json = nlohmann::json;

constexpr std::pair<Family, const char*> families[] = {
    {Family::input, "input"},
    {Family::parameter, "parameter"},
    {Family::constant, "constant"},
    {Family::iota, "iota"},
    {Family::pointwise, "pointwise"},
    {Family::reduction, "reduction"},
    {Family::contraction, "contraction"},
    {Family::convolution, "convolution"},
    {Family::scan, "scan"},
    {Family::layout, "layout"},
    {Family::gather, "gather"},
    {Family::scatter, "scatter"},
    {Family::repeat, "repeat"},
};

// ---- reading -----------------------------------------------------------------------------------------

[[noreturn]] void malformed(size_t index, const std::string& what) {
    throw UsageError(fmt::format("graph node {}: {}", index, what), "the graph comes from python/strop/trace.py");
}

// A JSON number, or "inf", "-inf", "nan".
double read_number(const Json& json) {
    if (json.is_number()) return json.get<double>();
    std::string text = json.get<std::string>();
    if (text == "inf") return INFINITY;
    if (text == "-inf") return -INFINITY;
    if (text == "nan") return NAN;
    throw UsageError(fmt::format("'{}' is not a number", text));
}

Expression read_expression(const Json& json) {
    return json.is_number_integer() ? Expression(json.get<int64_t>()) : Expression::parse(json.get<std::string>());
}

std::vector<Expression> read_expressions(const Json& json, const char* key) {
    std::vector<Expression> result;
    for (const Json& item : json.value(key, Json::array())) result.push_back(read_expression(item));
    return result;
}

Graph read_graph(const Json& json);
std::string attributes(const Node& node);

std::shared_ptr<const Repeat> read_loop(const Json& json) {
    Repeat loop;
    loop.body = read_graph(json.at("body"));
    loop.step = json.at("step").get<std::string>();
    loop.count = read_expression(json.at("count"));
    loop.states = json.at("states").get<int>();
    return std::make_shared<const Repeat>(std::move(loop));
}

Node read_node(const Json& json, size_t index) {
    Node node;
    node.id = static_cast<int>(index);
    std::string family = json.at("family").get<std::string>();
    std::optional<Family> parsed = parse_family(family);
    if (!parsed) malformed(index, fmt::format("unknown family '{}'", family));
    node.family = *parsed;
    std::string dtype = json.value("dtype", "float32");
    std::optional<DType> parsed_dtype = parse_dtype(dtype);
    if (!parsed_dtype) malformed(index, fmt::format("unknown dtype '{}'", dtype));
    node.dtype = *parsed_dtype;
    node.op = json.value("op", "");
    node.operands = json.value("operands", std::vector<int>{});
    node.shape = read_expressions(json, "shape");
    if (json.contains("value")) node.value = read_number(json["value"]);
    if (json.contains("dim")) node.dim = read_expression(json["dim"]);
    node.axes = json.value("axes", std::vector<int>{});
    node.keepdims = json.value("keepdims", false);
    node.labels = json.value("labels", std::vector<std::string>{});
    node.begin = read_expressions(json, "begin");
    node.end = read_expressions(json, "end");
    if (node.family != Family::repeat) node.step = read_expressions(json, "step");
    if (json.contains("pad_value")) node.pad_value = read_number(json["pad_value"]);
    node.window = read_expressions(json, "window");
    node.stride = read_expressions(json, "stride");
    node.padding = read_expressions(json, "padding");
    node.dilation = read_expressions(json, "dilation");
    if (json.contains("groups")) node.groups = read_expression(json["groups"]);
    if (node.family == Family::repeat) node.loop = read_loop(json);
    node.result = json.value("result", 0);
    return node;
}

void check_axes(const Node& node, size_t rank, size_t index) {
    for (int axis : node.axes)
        if (axis < 0 || static_cast<size_t>(axis) >= rank)
            malformed(index, fmt::format("axis {} of rank {}", axis, rank));
}

void check_layout(const Node& node, const Shape& source, size_t index) {
    size_t rank = source.size();
    if (node.op == "transpose") {
        std::vector<int> sorted = node.axes;
        std::sort(sorted.begin(), sorted.end());
        if (sorted.size() != rank || !is_permutation_identity(sorted)) malformed(index, "axes are no permutation");
    } else if (node.op == "slice") {
        bool whole = node.begin.size() == rank && node.end.size() == rank && node.step.size() == rank;
        if (!whole) malformed(index, "slice bounds do not fit the rank");
    } else if (node.op == "pad") {
        if (node.begin.size() != rank || node.end.size() != rank) malformed(index, "padding does not fit the rank");
    } else if (node.op == "window") {
        bool fits = node.window.size() == node.axes.size() && node.shape.size() == rank + node.window.size();
        if (!fits) malformed(index, "window does not fit the rank");
    } else if (node.op == "concatenate" && node.axes.size() != 1) {
        malformed(index, "concatenate needs one axis");
    }
}

void check_operation(const Node& node, size_t index) {
    bool listed = node.family == Family::pointwise || node.family == Family::reduction || node.family == Family::scan;
    if (!listed) return;
    const Operation* operation = operation_of(node);
    if (!operation) malformed(index, fmt::format("no {} '{}'", name_of(node.family), node.op));
    if (node.operands.size() != static_cast<size_t>(operation->arity))
        malformed(index, fmt::format("{} operands for '{}'", node.operands.size(), node.op));
}

void check_loop(const Graph& graph, const Node& node, size_t index) {
    const Repeat& loop = *node.loop;
    const auto is_one_of = [](int place, size_t count) { return place >= 0 && static_cast<size_t>(place) < count; };
    const size_t states = static_cast<size_t>(loop.states);
    if (loop.states < 0 || states > node.operands.size() || states > loop.body.outputs.size())
        malformed(index, fmt::format("{} states", loop.states));
    if (!is_one_of(node.result, node.op == "last" ? states : loop.body.outputs.size()) ||
        (node.op != "last" && node.op != "stack"))
        malformed(index, fmt::format("no result '{} {}'", node.op, node.result));
    const auto same = [&](const Node& one, const Node& other) {
        if (one.shape != other.shape || one.dtype != other.dtype)
            malformed(index, "what a step reads or leaves has another shape or type");
    };
    for (size_t k = 0; k < states; ++k) same(graph.at(node.operands[k]), loop.body.at(loop.body.outputs[k]));
    for (const Node& one : loop.body.nodes) {
        if (one.family != Family::input) continue;
        const int place =
            one.op.size() < 6 && !one.op.empty() && one.op.find_first_not_of("0123456789") == std::string::npos
                ? std::stoi(one.op)
                : -1;
        if (!is_one_of(place, node.operands.size())) malformed(index, "the body reads no operand '" + one.op + "'");
        same(graph.at(node.operands[static_cast<size_t>(place)]), one);
    }
}

// What the rewriters and emitters rely on without looking.
void check_node(const Graph& graph, const Node& node, size_t index) {
    static const std::map<Family, size_t> counts = {
        {Family::input, 0},     {Family::parameter, 0},   {Family::constant, 0},    {Family::iota, 0},
        {Family::reduction, 1}, {Family::contraction, 2}, {Family::convolution, 2}, {Family::scan, 1},
        {Family::gather, 2},    {Family::scatter, 3}};
    for (int operand : node.operands)
        if (operand < 0 || static_cast<size_t>(operand) >= index) malformed(index, fmt::format("operand {}", operand));
    auto expected = counts.find(node.family);
    bool known = expected == counts.end() || expected->second == node.operands.size();
    bool some = node.family != Family::pointwise && node.family != Family::layout;
    if (node.family == Family::repeat) return check_loop(graph, node, index);
    if (!known || (!some && node.operands.empty()))
        malformed(index, fmt::format("{} operands for a {}", node.operands.size(), name_of(node.family)));
    if (node.family == Family::iota && node.axes.size() != 1) malformed(index, "one axis is needed");
    if (node.family == Family::iota) check_axes(node, node.shape.size(), index);
    check_operation(node, index);
    if (node.operands.empty()) return;
    const Shape& source = graph.at(node.operands[0]).shape;
    if (node.family != Family::convolution) check_axes(node, source.size(), index);
    if (node.family == Family::layout) check_layout(node, source, index);
    const bool along_one =
        node.family == Family::scan || node.family == Family::gather || node.family == Family::scatter;
    if (along_one && node.axes.size() != 1) malformed(index, "one axis is needed");
    if (node.family == Family::scatter) {
        if (node.op != "sum" && node.op != "max" && node.op != "min") malformed(index, "no scatter '" + node.op + "'");
        for (int operand : node.operands)
            if (graph.at(operand).shape.size() != node.shape.size()) malformed(index, "operands of another rank");
    }
    if (node.family == Family::contraction) {
        bool fits = node.labels.size() == 3 && node.labels[2].size() == node.shape.size();
        for (size_t i = 0; fits && i < 2; ++i) fits = node.labels[i].size() == graph.at(node.operands[i]).shape.size();
        if (!fits) malformed(index, "labels do not fit the operands");
    }
}

Graph read_graph(const Json& json) {
    Graph graph;
    std::map<std::string, std::shared_ptr<const Repeat>> loops;  // results of one loop share it
    for (const Json& item : json.at("nodes")) {
        size_t index = graph.nodes.size();
        Node node = read_node(item, index);
        check_node(graph, node, index);
        if (node.loop) {
            Node shared = node;
            shared.operands.clear();
            shared.result = 0;
            node.loop = loops.try_emplace(attributes(shared), node.loop).first->second;
        }
        graph.nodes.push_back(std::move(node));
    }
    graph.outputs = json.at("outputs").get<std::vector<int>>();
    for (int id : graph.outputs)
        if (id < 0 || static_cast<size_t>(id) >= graph.nodes.size())
            throw UsageError(fmt::format("the graph is malformed: output {} is no node", id));
    graph.require = read_expressions(json, "require");
    return graph;
}

// ---- writing -----------------------------------------------------------------------------------------

std::string list(const std::vector<Expression>& expressions) {
    std::vector<std::string> texts;
    for (const Expression& expression : expressions) texts.push_back(expression.text());
    return "[" + join(texts, ", ") + "]";
}

std::string attributes(const Node& node) {
    std::string text;
    if (node.family == Family::constant) text += node.dim ? " " + node.dim->text() : fmt::format(" {}", node.value);
    if (!node.axes.empty()) text += fmt::format(" axes=[{}]", fmt::join(node.axes, ", "));
    if (node.keepdims) text += " keepdims";
    if (node.labels.size() == 3) text += fmt::format(" {},{}->{}", node.labels[0], node.labels[1], node.labels[2]);
    if (!node.begin.empty()) text += " begin=" + list(node.begin);
    if (!node.end.empty()) text += " end=" + list(node.end);
    if (!node.step.empty()) text += " step=" + list(node.step);
    if (node.family == Family::layout && node.op == "pad") text += fmt::format(" value={}", node.pad_value);
    if (!node.window.empty()) text += " window=" + list(node.window);
    if (!node.stride.empty()) text += " stride=" + list(node.stride);
    if (!node.padding.empty()) text += " padding=" + list(node.padding);
    if (!node.dilation.empty()) text += " dilation=" + list(node.dilation);
    if (!node.groups.is_literal(1)) text += " groups=" + node.groups.text();
    if (node.loop)
        text += fmt::format(" {} of {} steps '{}', {} states {{{}}}", node.result, node.loop->count.text(),
                            node.loop->step, node.loop->states, replace_all(describe(node.loop->body), "\n", "; "));
    return text;
}

}  // namespace

std::string name_of(Family family) { return families[static_cast<int>(family)].second; }

std::optional<Family> parse_family(const std::string& name) {
    for (const auto& [family, text] : families)
        if (name == text) return family;
    return std::nullopt;
}

LoopKey loop_of(const Node& node) { return {node.loop.get(), node.operands}; }

bool are_of_one_loop(const Node& a, const Node& b) { return a.loop && loop_of(a) == loop_of(b); }

void change_loops(Graph& graph, const std::function<Repeat(const Repeat&)>& changed) {
    std::map<const Repeat*, std::shared_ptr<const Repeat>> loops;
    for (Node& node : graph.nodes) {
        if (!node.loop) continue;
        std::shared_ptr<const Repeat>& known = loops[node.loop.get()];
        if (!known) known = std::make_shared<const Repeat>(changed(*node.loop));
        node.loop = known;
    }
}

bool has_loops(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return node.loop != nullptr; });
}

Graph with_symbols(Graph graph, const std::map<std::string, Expression>& symbols) {
    for (Node& node : graph.nodes) {
        for (std::vector<Expression>* list : {&node.shape, &node.begin, &node.end, &node.step, &node.window,
                                              &node.stride, &node.padding, &node.dilation})
            for (Expression& expression : *list) expression = expression.substitute(symbols);
        if (node.dim) node.dim = node.dim->substitute(symbols);
    }
    change_loops(graph, [&](const Repeat& loop) {
        std::map<std::string, Expression> inside = symbols;
        inside.erase(loop.step);
        return Repeat{with_symbols(loop.body, inside), loop.step, loop.count.substitute(symbols), loop.states};
    });
    return graph;
}

std::set<std::string> symbols_of(const Graph& graph) {
    std::set<std::string> symbols;
    const auto add = [&](const std::vector<Expression>& expressions) {
        for (const Expression& expression : expressions) symbols.merge(expression.symbols());
    };
    for (const Node& node : graph.nodes) {
        for (const auto* list : {&node.shape, &node.begin, &node.end, &node.step, &node.window, &node.stride,
                                 &node.padding, &node.dilation})
            add(*list);
        add({node.groups});
        if (node.dim) add({*node.dim});
        if (node.family == Family::parameter) symbols.insert(node.op);
        if (!node.loop) continue;
        std::set<std::string> inside = symbols_of(node.loop->body);
        inside.erase(node.loop->step);
        symbols.merge(inside);
        add({node.loop->count});
    }
    return symbols;
}

std::vector<int> Graph::users(int id) const {
    std::vector<int> result;
    for (const Node& node : nodes)
        if (std::find(node.operands.begin(), node.operands.end(), id) != node.operands.end()) result.push_back(node.id);
    return result;
}

Graph parse_graph(const std::string& json_text) {
    Graph graph;
    try {
        Json json = Json::parse(json_text);
        if (json.contains("untraceable")) {
            graph.untraceable = json["untraceable"].get<std::string>();
            if (graph.untraceable.empty()) graph.untraceable = "the reference was not traced";
            return graph;
        }
        return read_graph(json);
    } catch (const Json::exception& error) {
        throw UsageError(fmt::format("the graph is malformed: {}", error.what()),
                         "the graph comes from python/strop/trace.py");
    }
}

std::string describe_node(const Node& node) {
    std::string text = name_of(node.family);
    if (!node.op.empty()) text += " " + node.op;
    if (!node.operands.empty()) text += fmt::format("({})", fmt::join(node.operands, ", "));
    text += attributes(node);
    text += " : " + list(node.shape);
    if (node.dtype != DType::float32) text += " " + name_of(node.dtype);
    if (node.exact) text += " exact";
    return text;
}

std::string describe(const Graph& graph) {
    if (!graph.untraceable.empty()) return "untraceable: " + graph.untraceable + "\n";
    std::string text;
    for (const Node& node : graph.nodes) text += fmt::format("{} = {}\n", node.id, describe_node(node));
    return text + fmt::format("outputs: {}\n", fmt::join(graph.outputs, ", "));
}

Graph simplify(const Graph& graph) {
    // Each pass works bottom-up and may open the way for another; formulas settle within a few.
    constexpr int max_passes = 20;
    auto settle = [](Graph current) {
        std::string before = describe(current);
        for (int pass = 0; pass < max_passes; ++pass) {
            current = rewrite_once(current);
            std::string after = describe(current);
            if (after == before) break;
            before = std::move(after);
        }
        return current;
    };
    if (!graph.untraceable.empty()) return graph;
    Graph simple = graph;
    change_loops(simple,
                 [](const Repeat& loop) { return Repeat{simplify(loop.body), loop.step, loop.count, loop.states}; });
    mark_decisions(simple);
    return settle(raise_convolutions(settle(std::move(simple))));
}

}  // namespace strop
