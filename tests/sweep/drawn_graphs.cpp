#include "sweep/drawn_graphs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "graph/operations.h"
#include "playbook/recipe.h"

namespace strop::playbook {

namespace {

constexpr size_t operations_in_a_graph = 10;

// The axes of a nest, and which of them are reduced.
struct LoopAxes {
    std::string name;
    std::vector<std::string> axes;
    std::vector<int> reduced;
    std::vector<std::vector<std::string>> narrow;  // shapes of operands that are broadcast
    std::vector<Sizes> shapes;
};

Sizes mn(int64_t m, int64_t n) { return {{"M", m}, {"N", n}}; }
Sizes bmn(int64_t b, int64_t m, int64_t n) { return {{"B", b}, {"M", m}, {"N", n}}; }

const std::vector<Sizes>& matrix_shapes() {
    static const std::vector<Sizes> shapes = {mn(1, 1),  mn(3, 37),   mn(17, 7),  mn(2, 301),
                                              mn(9, 64), mn(130, 33), mn(1, 259), mn(2, 16401)};
    return shapes;
}

std::vector<LoopAxes> nests() {
    const std::vector<Sizes> blocks = {bmn(1, 1, 1), bmn(2, 5, 37), bmn(1, 60, 130), bmn(3, 1, 9), bmn(2, 301, 3)};
    return {{"elementwise", {"M", "N"}, {}, {{"N"}, {"M", "1"}}, matrix_shapes()},
            {"rows", {"M", "N"}, {1}, {{"N"}, {"M", "1"}}, matrix_shapes()},
            {"columns", {"M", "N"}, {0}, {{"N"}}, matrix_shapes()},
            {"middle", {"B", "M", "N"}, {1}, {{"N"}}, blocks},
            {"all", {"M", "N"}, {0, 1}, {}, matrix_shapes()}};
}

// One graph of a nest: a chain of the operations, with a reduction now and then whose result goes on in the chain.
class Chain {
public:
    Chain(const LoopAxes& nest, uint64_t seed) : nest_(nest), random_(seed), b_("sweep") {
        value_ = first_ = b_.input("x", nest.axes);
    }

    DrawnGraph draw(const std::vector<std::string>& operations, const std::vector<std::string>& reductions) {
        size_t next_reduction = 0;
        for (size_t i = 0; i < operations.size(); ++i) {
            apply(operations[i]);
            if (next_reduction < reductions.size() && i % 4 == 2) reduce(reductions[next_reduction++]);
        }
        while (next_reduction < reductions.size()) reduce(reductions[next_reduction++]);
        b_.output("y", value_);
        if (reduced_ >= 0) b_.output("r", b_.reduce("sum", value_, nest_.reduced, false));
        if (nest_.reduced.empty()) b_.output("t", b_.point("less", {value_, first_}));
        return {nest_.name, b_.problem, b_.graph, nest_.shapes};
    }

private:
    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }

    // Something that the chain meets: a whole tensor, one that is broadcast, a number, or what the chain began with.
    int other() {
        const size_t kind = below(5);
        if (kind == 0) return b_.constant(0.5);
        if (kind == 1) return first_;
        if (kind == 2 && reduced_ >= 0) return reduced_;
        if (inputs_.size() >= 3) return inputs_[below(inputs_.size())];
        const bool narrow = kind == 3 && !nest_.narrow.empty();
        inputs_.push_back(b_.input(fmt::format("in{}", inputs_.size()),
                                   narrow ? nest_.narrow[below(nest_.narrow.size())] : nest_.axes));
        return inputs_.back();
    }

    int truth() { return b_.point("less", {value_, other()}); }

    void apply(const std::string& operation) {
        const bool logical = operation.starts_with("logical");
        std::vector<int> operands = {logical ? truth() : value_};
        // Remainders of what is no power of two are left to plain loops.
        const bool rest = operation == "remainder" || operation == "floor_divide";
        if (find_operation(Family::pointwise, operation)->arity == 2)
            operands.push_back(logical ? truth() : rest ? b_.constant(0.5) : other());
        const int result = b_.point(operation, operands);
        value_ = b_.graph.at(result).dtype == DType::boolean ? b_.point("where", {result, value_, other()}) : result;
        if (b_.graph.at(value_).shape.size() < nest_.axes.size()) value_ = b_.point("add", {value_, first_});
    }

    void reduce(const std::string& operation) {
        reduced_ = b_.reduce(operation, value_, nest_.reduced);
        value_ = b_.point(operation == "max" ? "subtract" : "multiply", {value_, reduced_});
    }

    const LoopAxes& nest_;
    std::mt19937_64 random_;
    GraphBuilder b_;
    int value_ = 0, first_ = 0, reduced_ = -1;
    std::vector<int> inputs_;
};

bool taken(const Problem& problem, const Graph& graph) {
    Machine machine;
    return !emit_loops(problem, simplify(graph), machine).recipes.empty();
}

std::vector<std::string> some_reduction(const LoopAxes& nest, const std::vector<std::string>& reductions) {
    return nest.reduced.empty() ? std::vector<std::string>{} : reductions;
}

// The operations that the emitter takes in this nest, shuffled, in hands of a few.
std::vector<std::vector<std::string>> deal(const LoopAxes& nest, uint64_t seed) {
    std::vector<std::string> deck;
    for (const Operation& operation : operations()) {
        if (operation.family != Family::pointwise || operation.arity > 2)
            continue;  // where has its place in every chain
        const DrawnGraph single = Chain(nest, seed).draw({operation.name}, some_reduction(nest, {"sum"}));
        if (taken(single.problem, single.graph)) deck.push_back(operation.name);
    }
    std::mt19937_64 random(seed);
    std::shuffle(deck.begin(), deck.end(), random);
    std::vector<std::vector<std::string>> hands;
    for (size_t i = 0; i < deck.size(); ++i) {
        if (i % operations_in_a_graph == 0) hands.emplace_back();
        hands.back().push_back(deck[i]);
    }
    return hands;
}

void add_loops(std::vector<DrawnGraph>& graphs, uint64_t seed) {
    const std::vector<std::vector<std::string>> reductions = {{"max", "sum"}, {"prod"}, {"min", "sum"}, {"sum", "sum"}};
    for (const LoopAxes& nest : nests()) {
        size_t hand = 0;
        for (const std::vector<std::string>& operations : deal(nest, seed)) {
            const std::vector<std::string> folds = some_reduction(nest, reductions[hand % reductions.size()]);
            graphs.push_back(Chain(nest, seed + hand).draw(operations, folds));
            graphs.back().races = hand == 0;
            graphs.back().name += fmt::format("-{}", hand++);
        }
    }
}

Sizes mnk(int64_t m, int64_t n, int64_t k) { return {{"M", m}, {"N", n}, {"K", k}}; }

// A product with its operands' axes in some order, and what follows it.
DrawnGraph product(const std::string& left, const std::string& right, bool epilogue) {
    const std::map<char, std::string> extents = {{'m', "M"}, {'n', "N"}, {'k', "K"}};
    GraphBuilder b("sweep");
    const int x = b.input("x", {extents.at(left[0]), extents.at(left[1])});
    const int w = b.input("w", {extents.at(right[0]), extents.at(right[1])});
    int y = b.einsum(x, w, {left, right, "mn"}, {"M", "N"});
    if (epilogue) {
        y = b.point("tanh", {b.point("add", {y, b.input("bias", {"N"})})});
        y = b.point("add", {b.point("multiply", {y, b.input("scale", {"M", "1"})}), b.input("more", {"M", "N"})});
    }
    b.output("y", y);
    return {fmt::format("product-{}-{}{}", left, right, epilogue ? "-epilogue" : ""),
            b.problem,
            b.graph,
            {mnk(1, 1, 1), mnk(3, 5, 0), mnk(7, 17, 9), mnk(1, 100, 70), mnk(50, 1, 33), mnk(5, 19, 600),
             mnk(77, 103, 91)}};
}

void add_products(std::vector<DrawnGraph>& graphs) {
    for (const char* left : {"mk", "km"})
        for (const char* right : {"kn", "nk"}) graphs.push_back(product(left, right, false));
    graphs.push_back(product("mk", "nk", true));
    graphs.back().races = true;
    GraphBuilder batches("sweep");
    const int x = batches.input("x", {"B", "M", "K"}), w = batches.input("w", {"B", "K", "N"});
    batches.output("y", batches.einsum(x, w, {"bmk", "bkn", "bmn"}, {"B", "M", "N"}));
    graphs.push_back({"product-batches",
                      batches.problem,
                      batches.graph,
                      {{{"B", 3}, {"M", 9}, {"N", 21}, {"K", 10}}, {{"B", 2}, {"M", 50}, {"N", 40}, {"K", 50}}}});
    GraphBuilder vector("sweep");
    const int a = vector.input("x", {"M", "K"}), v = vector.input("v", {"K"});
    vector.output("y", vector.einsum(a, v, {"mk", "k", "m"}, {"M"}));
    graphs.push_back({"product-vector",
                      vector.problem,
                      vector.graph,
                      {{{"M", 37}, {"K", 100}}, {{"M", 1}, {"K", 3}}, {{"M", 3}, {"K", 0}}, {{"M", 30}, {"K", 700}}}});
}

Sizes convolution_sizes(const std::vector<int64_t>& sizes) {
    const std::vector<std::string> names = {"stride", "padding", "dilation", "groups", "N", "C",
                                            "H",      "W",       "K",        "R",      "S"};
    Sizes result;
    for (size_t i = 0; i < names.size(); ++i) result[names[i]] = sizes.at(i);
    return result;
}

DrawnGraph convolution(bool epilogue) {
    GraphBuilder b("sweep");
    for (const char* name : {"stride", "padding", "dilation", "groups"}) b.parameter(name, 1, DType::int64);
    const int x = b.input("x", {"N", "C", "H", "W"}), w = b.input("w", {"K", "C//groups", "R", "S"});
    int y = b.convolution(x, w, "stride", "padding", "dilation", "groups",
                          {"N", "K", "(H + 2*padding - dilation*(R - 1) - 1)//stride + 1",
                           "(W + 2*padding - dilation*(S - 1) - 1)//stride + 1"});
    if (epilogue)
        y = b.point("maximum",
                    {b.point("add", {y, b.reshape(b.input("bias", {"K"}), {"1", "K", "1", "1"})}), b.constant(0)});
    b.output("y", y);
    DrawnGraph drawn{epilogue ? "convolution-epilogue" : "convolution", b.problem, b.graph, {}};
    for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{{1, 1, 1, 1, 2, 3, 9, 11, 5, 3, 3},
                                                                               {1, 1, 1, 1, 1, 17, 21, 19, 23, 3, 3},
                                                                               {2, 3, 1, 1, 1, 3, 23, 24, 8, 7, 7},
                                                                               {3, 1, 2, 1, 1, 5, 20, 17, 9, 4, 2},
                                                                               {1, 1, 1, 4, 2, 8, 13, 15, 20, 3, 3},
                                                                               {1, 0, 1, 1, 2, 20, 11, 13, 19, 1, 1},
                                                                               {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                                                                               {1, 1, 1, 6, 2, 6, 13, 9, 12, 3, 3},
                                                                               {1, 1, 1, 6, 2, 6, 13, 9, 6, 3, 3},
                                                                               {1, 4, 1, 1, 1, 2, 2, 2, 3, 3, 3},
                                                                               {1, 1, 1, 1, 1, 0, 6, 6, 3, 3, 3}})
        drawn.shapes.push_back(convolution_sizes(sizes));
    drawn.races = epilogue;
    return drawn;
}

// Windows of images: `behind`: a channel lies behind each pixel.
DrawnGraph pool(const std::string& op, int64_t taps, int64_t stride, int64_t padding, bool behind) {
    GraphBuilder b("sweep");
    int x = b.point("maximum", {b.input("x", behind ? std::vector<std::string>{"N", "H", "W", "C"}
                                                    : std::vector<std::string>{"N", "H", "W"}),
                                b.constant(0.2)});
    if (padding > 0) {
        const std::string amount = std::to_string(padding);
        const std::vector<std::string> amounts =
            behind ? std::vector<std::string>{"0", amount, amount, "0"} : std::vector<std::string>{"0", amount, amount};
        x = b.pad(x, amounts, amounts, op == "sum" ? 0 : -INFINITY);
    }
    const int rank = behind ? 4 : 3;
    const int view = b.windows(x, {1, 2}, {taps, taps}, {stride, stride}, {1, 1});
    b.output("y", b.point("add", {b.reduce(op, view, {rank, rank + 1}, false), b.input("c", {"1"})}));
    DrawnGraph drawn{fmt::format("pool-{}-{}-{}{}", op, taps, stride, behind ? "-behind" : ""), b.problem, b.graph, {}};
    for (const std::vector<int64_t>& sizes :
         std::vector<std::vector<int64_t>>{{1, 6, 6}, {2, 9, 41}, {3, 12, 64}, {1, 7, 200}, {2, 8, 7}}) {
        drawn.shapes.push_back({{"N", sizes[0]}, {"H", sizes[1]}, {"W", sizes[2]}});
        if (behind) drawn.shapes.back()["C"] = sizes[2] % 19;
    }
    drawn.races = taps == 3;
    return drawn;
}

void add_windows(std::vector<DrawnGraph>& graphs) {
    graphs.push_back(pool("max", 3, 2, 1, false));
    graphs.push_back(pool("max", 6, 1, 3, false));
    graphs.push_back(pool("sum", 2, 2, 0, false));
    graphs.push_back(pool("min", 3, 5, 1, false));
    graphs.push_back(pool("max", 3, 2, 1, true));
    graphs.push_back(pool("max", 5, 1, 2, true));
}

// Searches and scans along the axis that a nest reduces, of a value that is computed.
void add_searches_and_scans(std::vector<DrawnGraph>& graphs) {
    for (const LoopAxes& nest : nests()) {
        if (nest.reduced.size() != 1) continue;
        std::vector<Sizes> shapes = nest.shapes;
        for (const char* op : {"argmax", "argmin"}) {
            GraphBuilder b("sweep");
            const int x = b.point("multiply", {b.input("x", nest.axes), b.input("w", nest.narrow[0])});
            b.output("place", b.reduce(op, x, nest.reduced, false));
            if (std::string(op) == "argmax") b.output("best", b.reduce("max", x, nest.reduced, false));
            graphs.push_back(
                {fmt::format("{}-{}", op, nest.name), b.problem, b.graph, shapes, std::string(op) == "argmax"});
        }
        const std::vector<std::pair<std::string, bool>> scans = {
            {"sum", false}, {"sum", true}, {"prod", false}, {"max", true}};
        for (const auto& [op, backwards] : scans) {
            GraphBuilder b("sweep");
            const int axis = nest.reduced[0];
            const int x = b.input("x", nest.axes), value = b.point("multiply", {x, b.input("w", nest.narrow[0])});
            const int scan =
                backwards ? b.reverse(b.scan(op, b.reverse(value, axis), axis), axis) : b.scan(op, value, axis);
            b.output("y", b.point("subtract", {scan, x}));
            graphs.push_back({fmt::format("scan-{}-{}{}", op, nest.name, backwards ? "-backwards" : ""), b.problem,
                              b.graph, shapes, op == "sum"});
        }
    }
}

// One of each structure once more, with its float32 tensors kept in 16 bits.
void add_halves(std::vector<DrawnGraph>& graphs) {
    const std::vector<std::pair<std::string, DType>> chosen = {{"rows-0", DType::bfloat16},
                                                               {"columns-0", DType::float16},
                                                               {"product-mk-nk-epilogue", DType::bfloat16},
                                                               {"pool-max-3-2", DType::bfloat16},
                                                               {"scan-sum-rows", DType::float16}};
    for (const auto& [name, type] : chosen) {
        const auto found =
            std::find_if(graphs.begin(), graphs.end(), [&](const DrawnGraph& drawn) { return drawn.name == name; });
        if (found == graphs.end()) continue;
        DrawnGraph half = *found;
        half.name = fmt::format("{}-{}", name_of(type), name);
        half.races = false;
        for (auto* tensors : {&half.problem.inputs, &half.problem.outputs})
            for (Tensor& tensor : *tensors)
                if (tensor.dtype == DType::float32) tensor.dtype = type;
        graphs.push_back(std::move(half));
    }
}

}  // namespace

std::vector<DrawnGraph> drawn_graphs(uint64_t seed) {
    std::vector<DrawnGraph> graphs;
    add_loops(graphs, seed);
    add_products(graphs);
    for (bool epilogue : {false, true}) graphs.push_back(convolution(epilogue));
    add_windows(graphs);
    add_searches_and_scans(graphs);
    add_halves(graphs);
    for (DrawnGraph& drawn : graphs) drawn.graph = simplify(drawn.graph);
    return graphs;
}

}  // namespace strop::playbook
