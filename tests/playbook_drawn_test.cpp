// Programs for graphs that are drawn at random: plain loops have to be right for whatever can be traced. Each is
// compiled, called between guards and compared with the interpreter. STROP_DRAWN=N: so many graphs, with all
// strategies; STROP_DRAWN_FIRST=N: from this one on.
#include <cmath>
#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/machine.h"
#include "graph/graph.h"
#include "graph/interpreter.h"
#include "language/contract.h"
#include "playbook/recipe.h"

#include "fakes/called_kernels.h"
#include "fakes/graph_builder.h"

namespace strop::playbook {
namespace {

using Shape = std::vector<Expression>;

constexpr size_t usual_graphs = 100, most_operations = 12, most_rank = 4;
constexpr double most_elements = 2e5;  // of a value, at the largest point

class Drawing {
public:
    explicit Drawing(unsigned seed) : random_(seed), builder_("drawn") {
        for (const char* name : {"A", "B", "C"}) {
            small_[name] = 2 + below(4);
            large_[name] = 3 + below(28);
        }
        const std::vector<std::vector<std::string>> shapes = {{"A", "B"}, {"A", "B", "C"}, {"B", "C"}, {"A", "3", "B"},
                                                              {"B", "A"}, {"C"},           {"2", "B"}, {"A", "4"}};
        for (size_t k = 0; k < 2 + below(2); ++k)
            values_.push_back(builder_.input("x" + std::to_string(k), shapes[below(shapes.size())]));
        inputs_ = values_.size();
        index_ = builder_.input("places", {"A", "2"}, DType::int64);
        for (size_t k = 0; k < 3 + below(most_operations - 2); ++k) grow();
        choose_outputs();
    }

    Computation computation() {
        Computation made;
        made.problem = builder_.problem;
        made.graph = builder_.graph;
        for (const Dimensions& dims : {small_, large_}) {
            made.problem.points.push_back({std::to_string(made.points.size()), dims});
            Point& point = made.points.emplace_back();
            point.dims = dims;
            for (const Tensor& input : made.problem.inputs) point.inputs.push_back(array(input, dims));
        }
        return made;
    }

private:
    size_t below(size_t count) { return random_() % count; }
    // A value, mostly one of the latest.
    int any() {
        const size_t latest = std::min<size_t>(values_.size(), 4);
        return values_[below(3) == 0 ? below(values_.size()) : values_.size() - 1 - below(latest)];
    }
    const Shape& shape(int id) const { return builder_.graph.at(id).shape; }
    int point(const std::string& op, const std::vector<int>& operands) { return builder_.point(op, operands); }

    Array array(const Tensor& tensor, const Dimensions& dims) {
        Array made;
        for (const Expression& extent : tensor.shape)
            made.shape.push_back(extent.evaluate_integer({dims.begin(), dims.end()}));
        std::normal_distribution<double> normal;
        for (int64_t i = 0; i < element_count(made.shape); ++i)
            made.values.push_back(tensor.dtype == DType::int64
                                      ? static_cast<double>(below(2))
                                      : static_cast<double>(static_cast<float>(normal(random_))));
        return made;
    }

    int add(Family family, const std::string& op, std::vector<int> operands, Shape extents) {
        Node node;
        node.family = family;
        node.op = op;
        node.operands = std::move(operands);
        node.shape = std::move(extents);
        node.id = static_cast<int>(builder_.graph.nodes.size());
        builder_.graph.nodes.push_back(std::move(node));
        return builder_.graph.nodes.back().id;
    }
    Node& last() { return builder_.graph.nodes.back(); }

    void grow() {
        const size_t before = builder_.graph.nodes.size();
        const int id = drawn();
        double elements = 1;
        for (const Expression& extent : shape(id))
            elements *= static_cast<double>(extent.evaluate_integer({large_.begin(), large_.end()}));
        if (shape(id).size() > most_rank || elements > most_elements) builder_.graph.nodes.resize(before);
        else values_.push_back(id);
    }

    int drawn() {
        switch (below(14)) {
            case 0:
            case 1: return unary(any());
            case 2:
            case 3:
            case 4: return binary();
            case 5:
            case 6: return reduced(any());
            case 7: return scanned(any());
            case 8: return transposed(any());
            case 9: return sliced(any());
            case 10: return joined(any());
            case 11: return reshaped(any());
            case 12: return below(2) ? padded(any()) : gathered(any());
            default: return below(3) ? product() : chosen(values_[below(inputs_)]);
        }
    }

    int chosen(int by) {
        const int a = any_fitting(by);
        int b = any_fitting(by);
        if (!shapes_fit(a, b)) b = a;
        return point("where", {point("less", {by, builder_.constant(0)}), a, point("negative", {b})});
    }

    int any_fitting(int id) {
        for (int attempt = 0; attempt < 20; ++attempt)
            if (const int other = any(); shapes_fit(id, other)) return other;
        return id;
    }

    // Right-aligned extents are equal, or one of both is 1.
    bool shapes_fit(int a, int b) const {
        for (size_t i = 1; i <= std::min(shape(a).size(), shape(b).size()); ++i) {
            const Expression &one = shape(a)[shape(a).size() - i], &other = shape(b)[shape(b).size() - i];
            if (!(one == other) && !one.is_literal(1) && !other.is_literal(1)) return false;
        }
        return true;
    }

    int unary(int x) {
        const std::vector<std::string> operations = {"negative", "absolute", "tanh", "sigmoid", "sin", "square"};
        const std::string& op = operations[below(operations.size())];
        if (op == "square") return point(op, {point("tanh", {x})});
        if (below(6) == 0) return point("exp", {point("minimum", {x, builder_.constant(1)})});
        return point(op, {x});
    }

    int binary() {
        const std::vector<std::string> operations = {"add",     "subtract", "multiply", "maximum",
                                                     "minimum", "divide",   "add",      "subtract"};
        const std::string& op = operations[below(operations.size())];
        const int a = any();
        int b = any_fitting(a);
        if (op == "divide") b = point("add", {point("absolute", {b}), builder_.constant(0.5)});
        if (op == "multiply") b = point("tanh", {b});
        return below(2) || op == "divide" ? point(op, {a, b}) : point(op, {b, a});
    }

    int reduced(int x) {
        if (shape(x).empty()) return unary(x);
        const std::vector<std::string> operations = {"sum", "max", "min", "sum"};
        const int axis = static_cast<int>(below(shape(x).size()));
        return builder_.reduce(operations[below(4)], x, {axis}, below(2));
    }

    int scanned(int x) {
        if (shape(x).empty()) return unary(x);
        const int axis = static_cast<int>(below(shape(x).size()));
        return below(3) == 0 ? builder_.reverse(x, axis) : builder_.scan(below(2) ? "sum" : "max", x, axis);
    }

    int transposed(int x) {
        std::vector<int> axes;
        Shape extents;
        for (size_t axis = 0; axis < shape(x).size(); ++axis) axes.push_back(static_cast<int>(axis));
        std::shuffle(axes.begin(), axes.end(), random_);
        for (int axis : axes) extents.push_back(shape(x)[static_cast<size_t>(axis)]);
        const int id = add(Family::layout, "transpose", {x}, extents);
        last().axes = axes;
        return id;
    }

    // Every other element, or all but the first, or the one at 1.
    int sliced(int x) {
        if (shape(x).empty()) return unary(x);
        const size_t axis = below(shape(x).size());
        Shape extents = shape(x), begin(extents.size(), 0), end = extents, step(extents.size(), 1);
        if (extents[axis].is_literal(1)) return unary(x);
        const size_t how = below(3);
        if (how == 0) {
            step[axis] = 2;
            extents[axis] = Expression::floor_divide(extents[axis] + 1, 2);
        } else {
            begin[axis] = 1;
            if (how == 2) end[axis] = 2;
            extents[axis] = how == 2 ? Expression(1) : extents[axis] - 1;
        }
        const double left = static_cast<double>(extents[axis].evaluate_integer({small_.begin(), small_.end()}));
        if (left < 2 && how != 2) return unary(x);
        const int id = add(Family::layout, "slice", {x}, extents);
        last().begin = begin;
        last().end = end;
        last().step = step;
        return id;
    }

    int joined(int x) {
        if (shape(x).empty()) return unary(x);
        std::vector<int> parts = {x};
        for (size_t k = 0; k < 1 + below(3); ++k) {
            int other = any();
            for (int attempt = 0; attempt < 10 && !(shape(other) == shape(x)); ++attempt) other = any();
            parts.push_back(shape(other) == shape(x) ? other : point("tanh", {x}));
        }
        const size_t axis = below(shape(x).size());
        Shape extents = shape(x);
        for (size_t k = 1; k < parts.size(); ++k) extents[axis] = extents[axis] + shape(x)[axis];
        const int id = add(Family::layout, "concatenate", parts, extents);
        last().axes = {static_cast<int>(axis)};
        return id;
    }

    int reshaped(int x) {
        Shape extents = shape(x);
        if (extents.size() >= 2 && below(2)) {
            const size_t axis = below(extents.size() - 1);
            extents[axis] = extents[axis] * extents[axis + 1];
            extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
        } else {
            extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(below(extents.size() + 1)), Expression(1));
        }
        return add(Family::layout, "reshape", {x}, extents);
    }

    int padded(int x) {
        if (shape(x).empty()) return unary(x);
        const size_t axis = below(shape(x).size());
        std::vector<std::string> begin(shape(x).size(), "0"), end = begin;
        (below(2) ? begin : end)[axis] = std::to_string(1 + below(2));
        return builder_.pad(x, begin, end, 0.5);
    }

    // Rows 0 and 1 again and again.
    int gathered(int x) {
        if (shape(x).empty() || shape(x).size() + 1 > most_rank) return unary(x);
        const size_t axis = below(shape(x).size());
        if (shape(x)[axis].evaluate_integer({small_.begin(), small_.end()}) < 2) return unary(x);
        Shape extents = shape(x);
        extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
        extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), shape(index_).begin(), shape(index_).end());
        const int id = add(Family::gather, "take", {x, index_}, extents);
        last().axes = {static_cast<int>(axis)};
        return id;
    }

    int product() {
        const int a = any();
        for (int attempt = 0; attempt < 20 && shape(a).size() == 2; ++attempt) {
            const int b = any();
            if (shape(b).size() != 2 || !(shape(a)[1] == shape(b)[0]) || shape(a)[1].is_literal(1)) continue;
            const int id = add(Family::contraction, "einsum", {a, b}, {shape(a)[0], shape(b)[1]});
            last().labels = {"ij", "jk", "ik"};
            return id;
        }
        return unary(a);
    }

    // What nobody reads, the latest three.
    void choose_outputs() {
        int count = 0;
        for (size_t k = values_.size(); k-- > inputs_ && count < 3;)
            if (builder_.graph.users(values_[k]).empty()) builder_.output("y" + std::to_string(count++), values_[k]);
    }

    std::mt19937 random_;
    GraphBuilder builder_;
    Dimensions small_, large_;
    std::vector<int> values_;
    size_t inputs_ = 0;
    int index_ = 0;
};

class DrawnKernels : public CalledKernels {
protected:
    // What float32 may do to it is told by what it does to the interpreter.
    void compare(const Computation& one, const Point& point, size_t output, const std::vector<double>& actual,
                 const std::string& where) override {
        const std::vector<double>& exact = point.expected[output].values;
        const std::vector<double> stored = interpret(one.graph, one.arguments(point), Precision::stored)[output].values;
        double squares = 0, noise = 0;
        for (size_t i = 0; i < exact.size(); ++i) {
            squares += exact[i] * exact[i];
            noise = std::max(noise, std::fabs(exact[i] - stored[i]));
        }
        const double scale = exact.empty() ? 0 : std::sqrt(squares / static_cast<double>(exact.size()));
        for (size_t i = 0; i < exact.size(); ++i) {
            const double allowed = 1e-4 * (std::fabs(exact[i]) + scale) + 30 * noise;
            if (std::fabs(actual[i] - exact[i]) <= allowed) continue;
            FAIL() << where << "\noutput " << output << "[" << i << "] is " << actual[i] << ", expected " << exact[i]
                   << " (allowed error " << allowed << ")\n"
                   << describe(one.graph);
        }
    }
};

size_t number_of(const char* variable, size_t otherwise) {
    const char* text = std::getenv(variable);
    return text ? std::strtoul(text, nullptr, 10) : otherwise;
}

TEST(DrawnPrograms, AreRight) {
    if (kernel_compilers().empty()) GTEST_SKIP() << "no compiler for kernels";
    DrawnKernels kernels;
    const size_t first = number_of("STROP_DRAWN_FIRST", 0), count = number_of("STROP_DRAWN", usual_graphs);
    for (size_t k = first; k < first + count && !testing::Test::HasFatalFailure(); ++k) {
        Computation one = Drawing(static_cast<unsigned>(k)).computation();
        SCOPED_TRACE(fmt::format("graph {}", k));
        for (Point& point : one.points) point.expected = interpret(one.graph, one.arguments(point));
        const Recipes recipes = emit_program(one.problem, simplify(one.graph), small_machine());
        ASSERT_FALSE(recipes.recipes.empty()) << recipes.lacks << "\n" << describe(one.graph);
        std::vector<Kernel> chosen;
        for (const Recipe& recipe : recipes.recipes) {
            if (count <= usual_graphs && recipe.strategy.id != (k % 4 == 0 ? "fused_stages" : "plain_stages")) continue;
            Kernel& kernel = chosen.emplace_back();
            kernel.id = fmt::format("{} of graph {}", recipe.strategy.id, k);
            kernel.source = recipe.source;
            kernel.space = parse_tunables(recipe.source, kernel.id);
            kernel.initial = recipe.initial;
        }
        kernels.check(one, chosen);
    }
}

}  // namespace
}  // namespace strop::playbook
