// Loops of any length, step by step: one step is a program of its own, called as often as there are steps.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/strings.h"
#include "language/contract.h"
#include "playbook/loop_text.h"
#include "playbook/partition.h"
#include "playbook/placed_writes.h"
#include "playbook/pointwise_part.h"
#include "playbook/recipe.h"
#include "playbook/source_parts.h"

namespace strop::playbook {

namespace {

constexpr size_t most_writes = 4;

class StepWriter {
public:
    // All outputs are results of one loop, whose first values are inputs.
    StepWriter(const Problem& problem, const Graph& graph)
        : problem_(problem),
          graph_(graph),
          node_(graph.at(graph.outputs[0])),
          loop_(*node_.loop) {
        taken_ = {problem.name, "step_memory", "one_step"};
        add_steps(loop_.body);
        taken_.insert(problem.dimensions.begin(), problem.dimensions.end());
        for (const auto* tensors : {&problem.inputs, &problem.outputs})
            for (const Tensor& tensor : *tensors) taken_.insert(tensor.name);
        for (const Parameter& parameter : problem.parameters) taken_.insert(parameter.name);
        step_ = unique(loop_.step);
    }

    Recipes write(const Machine& machine) {
        find_states();
        find_stacks();
        build_step();
        Recipes result = emit_program(step_problem_.problem, step_problem_.graph, machine);
        for (Recipe& recipe : result.recipes) {
            wrap(recipe);
            for (Recipe& variant : recipe.variants) wrap(variant);
        }
        exclude_each_other(result.recipes);
        return result;
    }

private:
    struct State {
        Tensor first;            // before the first step
        std::string name, next;  // pointers: what the step before left, what this one leaves
        std::string row_of;      // an output that gets the state of every step: its rows are the memory
        // Of a state that steps change in a few places only: it stays where it is, and these are written after a step.
        bool stays = false;
        struct Write {
            std::string name;  // pointer to what is written
            PlacedWrite write;
            std::vector<std::string> places;  // pointers to computed places, one an axis; empty: the place is known
        };
        std::vector<Write> writes;
        std::string memory;  // an output; empty: of its own
    };
    // What a step reads of an input where it lies side by side: `x[t]`.
    struct Row {
        std::string name;  // pointer
        Tensor of;
        Expression begin;  // elements
    };
    struct Stack {
        std::string name;  // pointer: this step's row of the output
        std::string output;
        int result = 0;
    };

    std::string unique(const std::string& name) {
        std::string result = name;
        for (int i = 2; !taken_.insert(result).second; ++i) result = fmt::format("{}_{}", name, i);
        return result;
    }

    // A nested loop's step is what it is called.
    void add_steps(const Graph& body) {
        for (const Node& node : body.nodes)
            if (node.loop && taken_.insert(node.loop->step).second) add_steps(node.loop->body);
    }

    const Tensor& input(const std::string& name) const {
        return *std::find_if(problem_.inputs.begin(), problem_.inputs.end(),
                             [&](const Tensor& tensor) { return tensor.name == name; });
    }

    void find_states() {
        for (int k = 0; k < loop_.states; ++k) {
            State state;
            state.first = input(graph_.at(node_.operands[static_cast<size_t>(k)]).op);
            state.name = unique("state");
            state.next = unique("next_" + state.name);
            states_.push_back(std::move(state));
        }
    }

    void find_stacks() {
        for (size_t k = 0; k < graph_.outputs.size(); ++k) {
            const Node& result = graph_.at(graph_.outputs[k]);
            const std::string& output = problem_.outputs[k].name;
            if (result.op == "last") continue;
            const bool of_state = result.result < loop_.states;
            State* state = of_state ? &states_[static_cast<size_t>(result.result)] : nullptr;
            if (state && state->row_of.empty()) state->row_of = output;
            else stacks_.push_back({unique("row_of_" + output), output, result.result});
        }
    }

    // ---- the problem of one step ---------------------------------------------------------------------------

    void build_step() {
        Problem& problem = step_problem_.problem;
        problem = problem_;
        problem.name = unique("take_step");
        problem.inputs.clear();
        problem.outputs.clear();
        problem.dimensions.push_back(step_);
        problem.range[step_] = {0, int64_t{1} << 31, false};
        for (ShapePoint& point : problem.points) point.dims[step_] = 0;
        const std::vector<int> made = copy_body();
        const auto add_output = [&](const std::string& name, int result) {
            const Node& node = step_problem_.graph.at(made[static_cast<size_t>(result)]);
            problem.outputs.push_back({name, node.dtype, node.shape, Fill::normal, {}});
            step_problem_.graph.outputs.push_back(node.id);
        };
        for (size_t k = 0; k < states_.size(); ++k) add_output(states_[k].next, static_cast<int>(k));
        for (const Stack& stack : stacks_) add_output(stack.name, stack.result);
        step_problem_.graph = simplify(step_problem_.graph);
        find_writes();
        read_rows();
        keep_used(step_problem_);
    }

    void find_writes() {
        StageProblem& step = step_problem_;
        std::vector<Tensor> outputs;
        std::vector<int> results;
        for (size_t k = 0; k < step.graph.outputs.size(); ++k) {
            if (k < states_.size() && find_writes(states_[k], k)) {
                for (const State::Write& one : states_[k].writes) {
                    const Node& value = step.graph.at(one.write.value);
                    outputs.push_back({one.name, value.dtype, value.shape, Fill::normal, {}});
                    results.push_back(value.id);
                    for (size_t axis = 0; axis < one.places.size(); ++axis) {
                        if (one.places[axis].empty()) continue;
                        outputs.push_back({one.places[axis], DType::int64, {}, Fill::normal, {}});
                        results.push_back(one.write.places[axis]->node);
                    }
                }
                continue;
            }
            outputs.push_back(step.problem.outputs[k]);
            results.push_back(step.graph.outputs[k]);
        }
        if (outputs.empty()) return;
        step.problem.outputs = outputs;
        step.graph.outputs = results;
        step.graph = simplify(step.graph);
    }

    bool find_writes(State& state, size_t result) {
        const auto is_of_it = [&](const Stack& stack) { return stack.result == static_cast<int>(result); };
        if (!state.row_of.empty() || std::any_of(stacks_.begin(), stacks_.end(), is_of_it)) return false;
        Graph& graph = step_problem_.graph;
        const auto before = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
            return node.family == Family::input && node.op == state.name;
        });
        if (before == graph.nodes.end()) return false;
        const auto writes = placed_writes(graph, graph.outputs[result], before->id);
        if (!writes || writes->empty() || writes->size() > most_writes) return false;
        state.stays = true;
        for (const PlacedWrite& write : *writes) {
            State::Write one{unique("written"), write, {}};
            for (const auto& place : write.places)
                one.places.push_back(place && place->node >= 0 ? unique("place") : std::string());
            state.writes.push_back(std::move(one));
        }
        for (size_t k = 0; k < graph_.outputs.size() && state.memory.empty(); ++k) {
            const Node& last = graph_.at(graph_.outputs[k]);
            if (last.op == "last" && last.result == static_cast<int>(result)) state.memory = problem_.outputs[k].name;
        }
        return true;
    }

    int append(Node node) {
        Graph& graph = step_problem_.graph;
        node.id = static_cast<int>(graph.nodes.size());
        if (node.family == Family::input && !has_input(node.op))
            step_problem_.problem.inputs.push_back({node.op, node.dtype, node.shape, Fill::normal, {}});
        graph.nodes.push_back(std::move(node));
        return graph.nodes.back().id;
    }

    bool has_input(const std::string& name) const {
        const std::vector<Tensor>& inputs = step_problem_.problem.inputs;
        return std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& one) { return one.name == name; });
    }

    // Where the body's outputs are. Views that the loop reads through are looked through in each step.
    std::vector<int> copy_body() {
        std::map<int, int> outside;
        const std::function<int(int)> copy_outside = [&](int id) {
            if (auto known = outside.find(id); known != outside.end()) return known->second;
            Node node = graph_.at(id);
            for (int& operand : node.operands) operand = copy_outside(operand);
            return outside[id] = append(std::move(node));
        };
        std::map<int, int> places;
        const Graph body = with_symbols(loop_.body, {{loop_.step, Expression::symbol(step_)}});
        for (const Node& node : body.nodes) {
            if (node.family == Family::input) {
                const size_t operand = std::stoul(node.op);
                if (operand >= states_.size()) {
                    places[node.id] = copy_outside(node_.operands[operand]);
                    continue;
                }
                Node state = node;
                state.op = states_[operand].name;
                places[node.id] = append(std::move(state));
                continue;
            }
            Node inside = node;
            for (int& operand : inside.operands) operand = places.at(operand);
            places[node.id] = append(std::move(inside));
        }
        std::vector<int> made;
        for (int id : loop_.body.outputs) made.push_back(places.at(id));
        return made;
    }

    // Slices that lie side by side in an input become inputs of their own.
    void read_rows() {
        Graph& graph = step_problem_.graph;
        for (Node& node : graph.nodes) {
            const std::optional<std::string> row = row_of_input(node);
            if (!row) continue;
            node.family = Family::input;
            node.op = *row;
            node.operands.clear();
            node.begin = node.end = node.step = {};
        }
        if (rows_.empty()) return;
        graph = simplify(graph);
        std::vector<Tensor>& inputs = step_problem_.problem.inputs;
        inputs.clear();
        for (const Node& node : graph.nodes)
            if (node.family == Family::input) inputs.push_back({node.op, node.dtype, node.shape, Fill::normal, {}});
    }

    // The name of its pointer.
    std::optional<std::string> row_of_input(const Node& node) {
        if (node.family != Family::layout || node.op != "slice") return {};
        const Node& source = step_problem_.graph.at(node.operands[0]);
        const bool of_problem =
            source.family == Family::input && std::any_of(problem_.inputs.begin(), problem_.inputs.end(),
                                                          [&](const Tensor& input) { return input.name == source.op; });
        if (!of_problem) return {};
        size_t axis = 0;
        while (axis + 1 < source.shape.size() && source.shape[axis].is_literal(1)) ++axis;
        Expression stride = 1;
        for (size_t k = 0; k < source.shape.size(); ++k) {
            if (!node.step[k].is_literal(1) || (k != axis && node.shape[k] != source.shape[k])) return {};
            if (k > axis) stride = stride * source.shape[k];
        }
        if (!node.begin[axis].symbols().contains(step_)) return {};
        const Expression begin = node.begin[axis] * stride;
        for (const Row& known : rows_)
            if (known.of.name == source.op && known.begin == begin && known.of.shape == node.shape) return known.name;
        rows_.push_back({unique("row_of_" + source.op), {source.op, node.dtype, node.shape, Fill::normal, {}}, begin});
        return rows_.back().name;
    }

    // ---- the text ------------------------------------------------------------------------------------------

    // Around the kernel of one step.
    void wrap(Recipe& recipe) const {
        const SourceParts parts = taken_apart(recipe.source);
        std::string text = fmt::format("// {}: step by step\n", problem_.name);
        for (const std::string& comment : parts.comments) text += "//   " + comment + "\n";
        for (const std::string& setting : parts.settings) text += "// " + setting + "\n";
        std::set<std::string> includes(parts.includes.begin(), parts.includes.end());
        includes.insert({"#include <stdint.h>", "#include <algorithm>"});
        for (const std::string& include : includes) text += include + "\n";
        text += "\nnamespace one_step {\n\n";
        for (const std::string& piece : parts.pieces) text += as_own_function(piece) + "\n\n";
        text += "}  // namespace one_step\n\n";
        if (needs_memory()) text += kept_memory("step_memory", "the states of two steps");
        recipe.source = text + entry();
        if (!recipe.suffix.empty()) return;
        recipe.strategy.id += "_each_step";
        recipe.strategy.family = "recurrence";
        recipe.strategy.hypothesis = "one step after the other: " + recipe.strategy.hypothesis;
    }

    bool needs_memory() const {
        return std::any_of(states_.begin(), states_.end(), [](const State& one) { return one.row_of.empty(); });
    }

    static std::string elements(const std::vector<Expression>& shape) {
        Expression product = 1;
        for (const Expression& extent : shape) product = product * extent;
        return factor(product);
    }

    std::string entry() const {
        Lines lines(0);
        lines.add(signature(problem_) + " {");
        add_memory(lines);
        lines.add(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", step_, loop_.count.cpp()));
        for (const Row& row : rows_)
            lines.add(fmt::format("const {0}* const {1} = {2} + {3};", c_type(row.of.dtype), row.name, row.of.name,
                                  factor(row.begin)));
        for (const State& state : states_) {
            if (state.stays) continue;
            const std::string size = elements(state.first.shape);
            lines.add(fmt::format("{}* const {} = {} + {} * {};", c_type(state.first.dtype), state.next,
                                  state.row_of.empty() ? state.name + "_memory" : state.row_of,
                                  state.row_of.empty() ? step_ + " % 2" : step_, size));
        }
        for (const Stack& stack : stacks_) {
            const Node& value = loop_.body.at(loop_.body.outputs[static_cast<size_t>(stack.result)]);
            lines.add(fmt::format("{}* const {} = {} + {} * {};", c_type(value.dtype), stack.name, stack.output, step_,
                                  elements(value.shape)));
        }
        const Problem& step = step_problem_.problem;
        lines.add(fmt::format("one_step::{}({});", step.name, argument_list(step)));
        for (const State& state : states_) {
            if (!state.stays) lines.add(fmt::format("{} = {};", state.name, state.next));
            for (const State::Write& one : state.writes) add_write(lines, state, one);
        }
        lines.add("}");
        for (size_t k = 0; k < graph_.outputs.size(); ++k) {
            const Node& result = graph_.at(graph_.outputs[k]);
            if (result.op != "last") continue;
            const State& state = states_[static_cast<size_t>(result.result)];
            if (state.memory == problem_.outputs[k].name) continue;
            lines.add(fmt::format("std::copy({0}, {0} + {1}, {2});", state.name, elements(state.first.shape),
                                  problem_.outputs[k].name));
        }
        lines.add("}");
        return lines.text();
    }

    // Where states lie, and what is written into them.
    void add_memory(Lines& lines) const {
        int slot = 0;
        const auto kept = [&](const std::string& type, const std::string& count) {
            return fmt::format("({0}*)step_memory<{1}>({2} * (int64_t)sizeof({0}))", type, slot++, count);
        };
        for (const State& state : states_) {
            const std::string type = c_type(state.first.dtype), size = elements(state.first.shape);
            if (state.stays) {
                const std::string memory = state.memory.empty() ? kept(type, size) : state.memory;
                lines.add(fmt::format("{}* const {} = {};", type, state.name, memory));
                lines.add(fmt::format("std::copy({0}, {0} + {1}, {2});", state.first.name, size, state.name));
                for (const State::Write& one : state.writes) {
                    lines.add(fmt::format("{0}* const {1} = {2};", type, one.name,
                                          kept(type, elements(written_shape(state.first.shape, one.write.places)))));
                    for (const std::string& place : one.places)
                        if (!place.empty()) lines.add(fmt::format("int64_t {}[1] = {{}};", place));
                }
                continue;
            }
            if (state.row_of.empty())
                lines.add(fmt::format("{}* const {}_memory = {};", type, state.name, kept(type, "2 * " + size)));
            lines.add(fmt::format("const {}* {} = {};", type, state.name, state.first.name));
        }
    }

    // Blocks that lie side by side, one for each index of the axes in front of the last place.
    static void add_write(Lines& lines, const State& state, const State::Write& one) {
        const std::vector<Expression> shape = written_shape(state.first.shape, one.write.places);
        size_t last = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis)
            if (one.write.places[axis]) last = axis;
        Expression block = 1, stride = 1, begin = 0;
        std::string offset, inside;
        int loops = 0;
        for (size_t axis = last + 1; axis < shape.size(); ++axis) block = block * shape[axis];
        for (size_t axis = shape.size(); axis-- > 0; stride = stride * state.first.shape[axis]) {
            if (!one.write.places[axis]) continue;
            if (one.places[axis].empty()) {
                begin = begin + one.write.places[axis]->at * stride;
                continue;
            }
            const std::string place = one.places[axis] + "[0]";
            offset += fmt::format(" + {} * {}", place, factor(stride));
            inside += fmt::format("{}{} >= 0 && {} < {}", inside.empty() ? "" : " && ", place, place,
                                  factor(state.first.shape[axis]));
        }
        if (!inside.empty()) lines.add(fmt::format("if ({}) {{", inside));
        for (size_t axis = 0; axis < last; ++axis) {
            if (one.write.places[axis] || shape[axis].is_literal(1)) continue;
            Expression behind = 1;
            for (size_t k = axis + 1; k < shape.size(); ++k) behind = behind * state.first.shape[k];
            const std::string index = fmt::format("block_{}", ++loops);
            lines.add(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", index, shape[axis].cpp()));
            offset += fmt::format(" + {} * {}", index, factor(behind));
        }
        std::string from = one.name;
        if (loops > 0)
            from += " + (" + source_index(shape, one.write, last) + ")" +
                    (block.is_literal(1) ? "" : " * " + factor(block));
        const std::string to = fmt::format("{} + {}{}", state.name, factor(begin), offset);
        if (block.is_literal(1)) lines.add(fmt::format("*({}) = *({});", to, from));
        else lines.add(fmt::format("std::copy({0}, {0} + {1}, {2});", from, factor(block), to));
        for (; loops > 0; --loops) lines.add("}");
        if (!inside.empty()) lines.add("}");
    }

    // Which block that is: over the axes in front of the last place.
    static std::string source_index(const std::vector<Expression>& shape, const PlacedWrite& write, size_t last) {
        std::string text;
        int loop = 0;
        for (size_t axis = 0; axis < last; ++axis) {
            if (write.places[axis] || shape[axis].is_literal(1)) continue;
            ++loop;
            text = text.empty() ? fmt::format("block_{}", loop)
                                : fmt::format("({}) * {} + block_{}", text, factor(shape[axis]), loop);
        }
        return text;
    }

    const Problem& problem_;
    const Graph& graph_;
    const Node& node_;
    const Repeat& loop_;
    std::set<std::string> taken_;
    std::string step_;
    std::vector<State> states_;
    std::vector<Stack> stacks_;
    std::vector<Row> rows_;
    StageProblem step_problem_;
};

}  // namespace

Recipes emit_repeat(const Problem& problem, const Graph& graph, const Machine& machine) {
    const Node& first = graph.at(graph.outputs.at(0));
    const bool one_loop = std::all_of(graph.outputs.begin(), graph.outputs.end(),
                                      [&](int id) { return are_of_one_loop(first, graph.at(id)); });
    if (!one_loop) return {{}, "a loop of any length with operations around it"};
    for (size_t k = 0; k < graph.outputs.size(); ++k)
        if (problem.outputs[k].dtype != graph.at(graph.outputs[k]).dtype)
            return {{}, "a loop's result in another type"};
    for (int id : first.operands)
        for (const Tensor& input : problem.inputs)
            if (input.name == graph.at(id).op && is_half(input.dtype)) return {{}, "a loop over 16-bit values"};
    for (int k = 0; k < first.loop->states; ++k)
        if (graph.at(first.operands[static_cast<size_t>(k)]).family != Family::input)
            return {{}, "a loop whose first values are not in memory"};
    return StepWriter(problem, graph).write(machine);
}

}  // namespace strop::playbook
