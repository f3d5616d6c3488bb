#include "graph/unroll.h"

#include <utility>

#include "graph/rewrite.h"

namespace strop {

namespace {

constexpr int64_t most_nodes = 20000;

class Unroller {
public:
    explicit Unroller(const Graph& graph) : graph_(graph) {}

    Graph run() {
        for (const Node& node : graph_.nodes)
            places_.push_back(node.loop && is_short(*node.loop) ? result(node) : out_.add(moved(node, places_)));
        std::vector<int> outputs;
        for (int id : graph_.outputs) outputs.push_back(places_[static_cast<size_t>(id)]);
        return out_.finish(outputs);
    }

private:
    static bool is_short(const Repeat& loop) {
        return loop.count.is_literal() && loop.count.evaluate_integer({}) > 0 && !has_loops(loop.body) &&
               loop.count.evaluate_integer({}) * static_cast<int64_t>(loop.body.nodes.size()) <= most_nodes;
    }

    static Node moved(Node node, const std::vector<int>& places) {
        for (int& operand : node.operands) operand = places[static_cast<size_t>(operand)];
        return node;
    }

    struct Steps {
        std::vector<int> states;               // after the last
        std::vector<std::vector<int>> values;  // by the body's outputs
    };

    int result(const Node& node) {
        const LoopKey key = loop_of(node);
        auto known = loops_.find(key);
        if (known == loops_.end()) known = loops_.emplace(key, take_steps(node)).first;
        const size_t k = static_cast<size_t>(node.result);
        return node.op == "last" ? known->second.states[k] : stacked(node, known->second.values[k]);
    }

    Steps take_steps(const Node& node) {
        const Repeat& loop = *node.loop;
        Steps steps;
        steps.values.resize(loop.body.outputs.size());
        std::vector<int> operands;
        for (int operand : node.operands) operands.push_back(places_[static_cast<size_t>(operand)]);
        const int64_t count = loop.count.evaluate_integer({});
        for (int64_t step = 0; step < count; ++step) {
            const Graph body = with_symbols(loop.body, {{loop.step, Expression(step)}});
            std::vector<int> inside;
            for (const Node& one : body.nodes)
                inside.push_back(one.family == Family::input ? operands[std::stoul(one.op)]
                                                             : out_.add(moved(one, inside)));
            for (size_t k = 0; k < body.outputs.size(); ++k)
                steps.values[k].push_back(inside[static_cast<size_t>(body.outputs[k])]);
            for (size_t k = 0; k < static_cast<size_t>(loop.states); ++k) operands[k] = steps.values[k].back();
        }
        steps.states.assign(operands.begin(), operands.begin() + loop.states);
        return steps;
    }

    // Along a new first axis.
    int stacked(const Node& node, const std::vector<int>& values) {
        Node join;
        join.family = Family::layout;
        join.op = "concatenate";
        join.axes = {0};
        join.shape = node.shape;
        join.dtype = node.dtype;
        Shape one = node.shape;
        one[0] = 1;
        for (int value : values) join.operands.push_back(out_.reshape(value, one));
        if (join.operands.size() == 1) return join.operands[0];
        return out_.add(std::move(join));
    }

    const Graph& graph_;
    GraphWriter out_;
    std::vector<int> places_;
    std::map<LoopKey, Steps> loops_;
};

}  // namespace

Graph unrolled_loops(const Graph& graph) { return has_loops(graph) ? Unroller(graph).run() : graph; }

}  // namespace strop
