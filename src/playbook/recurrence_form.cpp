#include "playbook/recurrence_form.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/recurrence.h"
#include "graph/rewrite.h"
#include "playbook/argument_names.h"
#include "playbook/flat_loop.h"
#include "playbook/recurrence_outputs.h"
#include "playbook/step_axes.h"
#include "playbook/values_in_place.h"

namespace strop::playbook {

namespace {

size_t at(int id) { return static_cast<size_t>(id); }

class Former {
public:
    // `flat`: absent for an unrolled loop.
    Former(const Problem& problem, const Graph& graph, const Recurrence& loop, const FlatLoop* flat,
           RecurrenceShare share)
        : graph_(graph),
          loop_(loop),
          flat_(flat) {
        form_.problem = problem;
        form_.share = share;
        form_.original = free_names(form_.problem, graph_, recurrence_kernel_names());
    }

    RecurrenceForm form() {
        form_.steps = Expression(static_cast<int64_t>(loop_.steps.size()));
        form_.row = unique("first_row");
        form_.step = unique("step");
        if (flat_) name_step();
        check_body();
        if (!form_.lacks.empty()) return form_;
        RecurrenceOutputs outputs = find_outputs(form_, graph_, loop_, flat_);
        form_.lacks = outputs.lacks;
        written_ = std::move(outputs.written);
        leads_ = std::move(outputs.leads);
        find_phases();
        if (held_.empty()) lacking("a recurrence whose steps compute nothing");
        if (!form_.lacks.empty()) return form_;
        plan_buffers();
        build_steps();
        build_initial();
        build_readings();
        if (form_.share == RecurrenceShare::columns) check_shared_columns();
        return form_;
    }

private:
    using Written = RecurrenceOutputs::Written;
    using When = RecurrenceOutputs::When;

    RecurrenceForm lacking(const std::string& why) {
        if (form_.lacks.empty()) form_.lacks = why;
        return form_;
    }

    void name_step() {
        std::map<std::string, Expression> names;  // in the kernel; its dimensions may have new ones
        for (const auto& [renamed, original] : form_.original)
            names.emplace(original.text(), Expression::symbol(renamed));
        form_.steps = flat_->count.substitute(names);
        graph_ = with_symbols(std::move(graph_), {{flat_->step, Expression::symbol(form_.step)}});
    }

    std::string unique(const std::string& name) {
        auto taken = [&](const std::string& one) {
            for (const auto* tensors : {&form_.problem.inputs, &form_.problem.outputs})
                for (const Tensor& tensor : *tensors)
                    if (tensor.name == one) return true;
            for (const Parameter& parameter : form_.problem.parameters)
                if (parameter.name == one) return true;
            return own_names_.contains(one) ||
                   std::count(form_.problem.dimensions.begin(), form_.problem.dimensions.end(), one) > 0;
        };
        std::string result = name;
        for (int i = 2; taken(result); ++i) result = fmt::format("{}_{}", name, i);
        own_names_.insert(result);
        return result;
    }

    bool in_body(int id) const { return std::binary_search(loop_.body.begin(), loop_.body.end(), id); }
    const Recurrence::Carry* carry_before(int id) const {
        for (const Recurrence::Carry& carry : loop_.carries)
            if (carry.before == id) return &carry;
        return nullptr;
    }
    size_t carry_place(const Recurrence::Carry& carry) const {
        return static_cast<size_t>(&carry - loop_.carries.data());
    }

    // ---- what the nodes are ----

    void check_body() {
        form_.rows = 1;
        for (const Recurrence::Carry& carry : loop_.carries) {
            const Node& node = graph_.at(carry.after);
            const auto axis = row_axis(node.shape);
            if (node.shape.empty() || !axis) return void(lacking("a state of more than two axes"));
            if (graph_.at(carry.before).shape != node.shape) return void(lacking("a state of another shape each step"));
            const Expression rows = *axis ? node.shape[**axis] : Expression(1);
            if (carry_place(carry) > 0 && !(rows == form_.rows)) return void(lacking("states of several batches"));
            form_.rows = rows;
        }
        for (int id : loop_.body) {
            const Node& node = graph_.at(id);
            if (node.dtype != DType::float32 && !is_condition(id) && !is_number_of_step(id))
                return void(lacking("a recurrence in another type than float32"));
            if (node.family == Family::layout && !is_view(graph_, node))
                return void(lacking("a recurrence with '" + node.op + "'"));
            if (node.family == Family::contraction) check_product(node);
            else if (!loop_.moves.contains(id)) check_columns(node);
            else check_read(node);
            for (int operand : node.operands)
                if (!is_state(operand) && node.family != Family::contraction && !loop_.moves.contains(id))
                    check_read(graph_.at(operand));
        }
        for (const auto* tensors : {&form_.problem.inputs, &form_.problem.outputs})
            for (const Tensor& tensor : *tensors)
                if (is_half(tensor.dtype)) return void(lacking("a recurrence over 16-bit values"));
    }

    // The axis of a value of any rank that counts rows; [B, K, 1] is read as [B, K].
    std::optional<size_t> rows_of_value(const Shape& shape) const {
        if (const auto axis = row_axis(shape)) return *axis;
        const auto first =
            std::find_if(shape.begin(), shape.end(), [](const Expression& e) { return !e.is_literal(1); });
        return static_cast<size_t>(first - shape.begin());
    }

    // A value that no step makes: its rows are the first axis that there is.
    void check_read(const Node& node) {
        if (row_axis(node.shape)) return;
        if (!(node.shape[*rows_of_value(node.shape)] == form_.rows)) lacking("a recurrence over several axes");
    }

    // What is decided within a step and kept nowhere.
    bool is_condition(int id) const {
        const bool carried = std::any_of(loop_.carries.begin(), loop_.carries.end(),
                                         [&](const Recurrence::Carry& carry) { return carry.after == id; });
        return graph_.at(id).dtype == DType::boolean && !carried;
    }

    // What follows from the step alone, in any type: `0.9 ** t`.
    bool is_number_of_step(int id) const {
        const Node& node = graph_.at(id);
        return long_axes(node.shape) == 0 && !carry_before(id) &&
               std::all_of(node.operands.begin(), node.operands.end(),
                           [&](int one) { return !carry_before(one) && is_number_of_step(one); }) &&
               std::none_of(loop_.carries.begin(), loop_.carries.end(),
                            [&](const Recurrence::Carry& carry) { return carry.after == id; });
    }

    void check_columns(const Node& node) {
        const auto axis = row_axis(node.shape);
        if (!axis) return void(lacking("a recurrence over several axes"));
        if (*axis && !(node.shape[**axis] == form_.rows)) lacking("a recurrence that mixes rows");
        if (node.op == "transpose" || node.op == "reverse" || node.op == "window")
            lacking("a recurrence with '" + node.op + "'");
        if (node.op != "slice") return;
        for (size_t k = 0; k + 1 < node.shape.size(); ++k)
            if (!node.begin[k].is_literal(0) || !node.step[k].is_literal(1))
                if (!graph_.at(node.operands[0]).shape[k].is_literal(1) && is_state(node.operands[0]))
                    lacking("a recurrence that mixes rows");
    }

    // What each step makes anew.
    bool is_state(int id) const { return in_body(id) || carry_before(id); }

    void check_product(const Node& node) {
        const bool first = is_state(node.operands[0]);
        if (first == is_state(node.operands[1])) return void(lacking("a product of two states"));
        const size_t state = first ? 0 : 1;
        const std::string &left = node.labels[state], &right = node.labels[1 - state], &result = node.labels[2];
        if (right.size() != 2 || left.empty() || result.empty()) return void(lacking("a product of several axes"));
        const char depth = left.back(), column = result.back();
        const bool fits = right.find(depth) != std::string::npos && right.find(column) != std::string::npos &&
                          depth != column && left.substr(0, left.size() - 1) == result.substr(0, result.size() - 1);
        const auto axis = row_axis(graph_.at(node.operands[state]).shape);
        if (!fits || !axis) return void(lacking("a product that mixes rows"));
        const Shape& shape = graph_.at(node.operands[state]).shape;
        if (*axis && !(shape[**axis] == form_.rows)) lacking("a product that mixes rows");
    }

    // ---- what is done when ----

    int phase_of(int id) const {
        auto found = phase_.find(id);
        return found == phase_.end() ? 0 : found->second;
    }

    size_t state_side(const Node& product) const { return is_state(product.operands[0]) ? 0 : 1; }

    void find_phases() {
        for (int id : loop_.body) {
            const Node& node = graph_.at(id);
            int phase = 0;
            for (int operand : node.operands) phase = std::max(phase, phase_of(operand));
            phase_[id] = phase + (node.family == Family::contraction);
        }
        std::set<int> held;
        for (const Recurrence::Carry& carry : loop_.carries)
            if (in_body(carry.after)) held.insert(carry.after);
        for (const Written& written : written_)
            if (in_body(written.node)) held.insert(written.node);
        for (int id : loop_.body)
            if (const Node& node = graph_.at(id); node.family == Family::contraction) {
                const int left = node.operands[state_side(node)];
                if (in_body(left)) held.insert(left);
            }
        held_.assign(held.begin(), held.end());
    }

    // One product of each state and one loop after them, whose columns are those of each part of the sums.
    void check_shared_columns() {
        if (form_.phases.size() != 2 || !form_.phases[0].loops.empty() || form_.phases[1].loops.size() != 1)
            return void(lacking("a step of several products in turn"));
        const Expression& columns = form_.phases[1].loops[0].columns;
        for (const RowProduct& product : form_.phases[1].products)
            if (!columns.is_literal() || !product.columns.is_literal() ||
                product.columns.evaluate_integer({}) % columns.evaluate_integer({}) != 0)
                lacking("a step whose sums are no multiple of its columns");
    }

    bool is_multiplied(int id) const {
        return std::any_of(loop_.body.begin(), loop_.body.end(), [&](int one) {
            const Node& node = graph_.at(one);
            return node.family == Family::contraction && node.operands[state_side(node)] == id;
        });
    }

    // ---- memory ----

    void plan_buffers() {
        for (const Recurrence::Carry& carry : loop_.carries) {
            const Expression columns = columns_of(carry.after);
            state_.push_back(add_buffer("state", columns));
            if (in_body(carry.after)) after_[carry.after].push_back(state_.size() - 1);
        }
        for (const Recurrence::Carry& carry : loop_.carries)  // what is one step older, before it is replaced
            if (const Recurrence::Carry* newer = carry_before(carry.after))
                form_.copies.push_back({state_[carry_place(*newer)], state_[carry_place(carry)]});
        for (const auto& [node, carries] : after_) {
            const bool read_by_others =
                form_.share == RecurrenceShare::columns && is_multiplied(loop_.carries[carries[0]].before);
            const bool safe = carries.size() == 1 && !read_by_others && !is_kept(loop_.carries[carries[0]]) &&
                              can_be_written_over(loop_.carries[carries[0]]);
            buffer_of_[node] = safe ? state_[carries[0]] : add_buffer("next", columns_of(node));
            for (size_t k : carries)
                if (state_[k] != buffer_of_[node]) form_.copies.push_back({buffer_of_[node], state_[k]});
        }
        order_copies();
        for (int id : held_)
            if (!buffer_of_.contains(id)) buffer_of_[id] = add_buffer("held", columns_of(id));
        for (int id : loop_.body)
            if (graph_.at(id).family == Family::contraction) sums_[id] = add_buffer("sums", columns_of(id), true);
    }

    // All states change at once: what is read by another copy is written after that. Of states that take each other's
    // places one is kept aside.
    void order_copies() {
        std::vector<RecurrenceForm::Copy> left = std::move(form_.copies), ordered;
        while (!left.empty()) {
            const auto is_read = [&](size_t buffer) {
                return std::any_of(left.begin(), left.end(),
                                   [&](const RecurrenceForm::Copy& other) { return other.from == buffer; });
            };
            auto next = std::find_if(left.begin(), left.end(),
                                     [&](const RecurrenceForm::Copy& copy) { return !is_read(copy.to); });
            if (next == left.end()) {
                const size_t taken = left.front().to, aside = add_buffer("aside", form_.buffers[taken].columns);
                ordered.push_back({taken, aside});
                for (RecurrenceForm::Copy& copy : left)
                    if (copy.from == taken) copy.from = aside;
                continue;
            }
            ordered.push_back(*next);
            left.erase(next);
        }
        form_.copies = std::move(ordered);
    }

    size_t add_buffer(const std::string& name, const Expression& columns, bool padded = false) {
        form_.buffers.push_back({unique(name), columns, padded});
        return form_.buffers.size() - 1;
    }

    // Whether the step after the next reads it too.
    bool is_kept(const Recurrence::Carry& carry) const {
        return std::any_of(loop_.carries.begin(), loop_.carries.end(),
                           [&](const Recurrence::Carry& other) { return other.after == carry.before; });
    }

    // Whether nothing needs the state of the step before once the new one stands in its place: element by element in
    // the loop that writes it, or in earlier phases.
    bool can_be_written_over(const Recurrence::Carry& carry) const {
        const int written = phase_of(carry.after);
        for (int id : held_) {
            if (!reads(id, carry.before)) continue;
            const bool same_loop = phase_of(id) == written && same_columns(id, carry.after);
            if (phase_of(id) > written || (phase_of(id) == written && !same_loop)) return false;
            if (same_loop && !reads_in_place(id, carry.before)) return false;
        }
        for (int id : loop_.body) {
            const Node& node = graph_.at(id);
            if (node.family == Family::contraction && node.operands[state_side(node)] == carry.before &&
                phase_of(id) > written)
                return false;
        }
        return true;
    }

    Expression columns_of(int id) const {
        const Shape& shape = graph_.at(id).shape;
        return shape.empty() ? Expression(1) : shape.back();
    }
    bool same_columns(int one, int other) const { return columns_of(one) == columns_of(other); }
    // Through pointwise operations and views, before anything in memory.
    bool reads(int id, int value) const {
        if (id == value) return true;
        if (!in_body(id) || graph_.at(id).family == Family::contraction) return false;
        const std::vector<int>& operands = graph_.at(id).operands;
        return std::any_of(operands.begin(), operands.end(), [&](int one) { return reads(one, value); });
    }

    bool reads_in_place(int id, int value) const {
        const Node& node = graph_.at(id);
        if (id == value || !reads(id, value)) return true;
        if (node.family == Family::layout &&
            !(node.op == "reshape" && columns_of(node.id) == columns_of(node.operands[0])))
            return false;
        return std::all_of(node.operands.begin(), node.operands.end(),
                           [&](int one) { return reads_in_place(one, value); });
    }

    // ---- graphs of the loops ----

    // Copies what a loop computes, with buffers and tensors as inputs.
    class Copier {
    public:
        Copier(Former& former, int phase) : self_(former), phase_(phase) {}

        int copy(int id) {
            if (auto known = places_.find(id); known != places_.end()) return known->second;
            const Node& node = self_.graph_.at(id);
            int place = 0;
            if (const Recurrence::Carry* carry = self_.carry_before(id)) {
                place = buffer(self_.state_[self_.carry_place(*carry)], node.shape);
            } else if (!self_.in_body(id)) {
                place = rows_of(outside(id));
            } else if (node.family == Family::contraction) {
                place = buffer(self_.sums_.at(id), node.shape);
            } else if (auto held = self_.buffer_of_.find(id);
                       held != self_.buffer_of_.end() && self_.phase_of(id) < phase_) {
                place = buffer(held->second, node.shape);
            } else if (auto move = self_.loop_.moves.find(id); move != self_.loop_.moves.end()) {
                Node slice = moved_with_step(node, move->second, Expression::symbol(self_.form_.step),
                                             static_cast<int64_t>(self_.loop_.body_step));
                slice.operands = {outside(node.operands[0])};
                place = rows_of(append(slice));
            } else {
                Node inside = node;
                for (int& operand : inside.operands) operand = copy(operand);
                if (const auto axis = row_axis(node.shape); axis && *axis) {
                    inside.shape[**axis] = Expression::symbol(rows_of_block);
                    if (inside.op == "slice") inside.end[**axis] = inside.shape[**axis];
                }
                place = append(inside);
            }
            return places_[id] = place;
        }

        // A value that no step changes.
        int outside(int id) {
            if (auto known = outside_.find(id); known != outside_.end()) return known->second;
            Node node = self_.graph_.at(id);
            for (int& operand : node.operands) operand = outside(operand);
            return outside_[id] = append(node);
        }

        int shaped(int place, const Shape& shape) {
            if (graph_.at(place).shape == shape) return place;
            return append(laid_out(graph_.at(place), "reshape", shape));
        }

        Graph take(std::vector<int> outputs) {
            graph_.outputs = std::move(outputs);
            return std::move(graph_);
        }
        // The rows of a block of a value that has all of them.
        int rows_of(int place) {
            const Shape shape = graph_.at(place).shape;
            if (shape.empty() || self_.form_.rows.is_literal(1)) return place;
            const std::optional<size_t> axis = self_.rows_of_value(shape);
            if (!axis) return place;
            Node slice = whole_slice(graph_.at(place));
            slice.shape[*axis] = Expression::symbol(rows_of_block);
            slice.begin[*axis] = Expression::symbol(self_.form_.row);
            slice.end = slice.shape;
            return append(slice);
        }

    private:
        int append(Node node) {
            node.id = static_cast<int>(graph_.nodes.size());
            graph_.nodes.push_back(std::move(node));
            return graph_.nodes.back().id;
        }

        int buffer(size_t index, Shape shape) {
            const RowBuffer& buffer = self_.form_.buffers[index];
            Node node;
            node.family = Family::input;
            node.op = buffer.name;
            if (const auto axis = row_axis(shape); axis && *axis) shape[**axis] = Expression::symbol(rows_of_block);
            const Expression columns = shape.back();
            if (buffer.padded) shape.back() = Expression::symbol(buffer.name + "_columns");
            node.shape = shape;
            const int place = append(node);
            if (!buffer.padded) return place;
            Node slice = whole_slice(graph_.at(place));
            slice.shape.back() = slice.end.back() = columns;
            return append(slice);
        }

        Former& self_;
        int phase_;
        std::map<int, int> places_, outside_;
        Graph graph_;
    };

    void build_steps() {
        int phases = 0;
        for (int id : loop_.body) phases = std::max(phases, phase_of(id));
        form_.phases.resize(static_cast<size_t>(phases) + 1);
        form_.whole_rows = phases > 0;
        for (int id : loop_.body)
            if (graph_.at(id).family == Family::contraction)
                form_.phases[at(phase_of(id))].products.push_back(product(id));
        for (int id : held_) add_to_loop(id);
        for (const RowLoop& loop : form_.phases[0].loops)
            if (!(loop.columns == form_.phases[0].loops[0].columns)) form_.whole_rows = true;
        for (const Recurrence::Carry& carry : loop_.carries)  // a number beside a row
            if (!form_.phases[0].loops.empty() && !(columns_of(carry.after) == form_.phases[0].loops[0].columns))
                form_.whole_rows = true;
        for (int id : loop_.body)  // columns that are read elsewhere than where they are written
            if (const Node& node = graph_.at(id); node.op == "slice" && !loop_.moves.contains(id))
                form_.whole_rows = true;
    }

    RowProduct product(int id) {
        const Node& node = graph_.at(id);
        const size_t side = state_side(node);
        const int left = node.operands[side];
        RowProduct result;
        const Recurrence::Carry* carry = carry_before(left);
        result.left = carry ? state_[carry_place(*carry)] : buffer_of_.at(left);
        result.sums = sums_.at(id);
        result.depth = columns_of(left);
        result.columns = node.shape.back();
        result.columns_first = node.labels[1 - side][0] == node.labels[2].back();
        Copier copier(*this, 0);
        const int weights = copier.outside(node.operands[1 - side]);
        result.weights = copier.take({weights});
        return result;
    }

    // The loops of one phase over so many columns are one.
    void add_to_loop(int id) {
        std::vector<RowLoop>& loops = form_.phases[at(phase_of(id))].loops;
        const Expression columns = columns_of(id);
        if (std::any_of(loops.begin(), loops.end(), [&](const RowLoop& loop) { return loop.columns == columns; }))
            return;
        Copier copier(*this, phase_of(id));
        RowLoop loop;
        loop.columns = columns;
        std::vector<int> outputs;
        for (int one : held_) {
            if (phase_of(one) != phase_of(id) || !(columns_of(one) == columns)) continue;
            RowResult result{copier.copy(one), buffer_of_.at(one), {}};
            for (const Written& written : written_)
                if (written.node == one && written.when == When::each_step) result.places.push_back(written.place);
            outputs.push_back(result.node);
            loop.results.push_back(result);
        }
        loop.graph = copier.take(outputs);
        loops.push_back(std::move(loop));
    }

    void build_initial() {
        for (const Recurrence::Carry& carry : loop_.carries) {
            RowLoop loop;
            loop.columns = columns_of(carry.after);
            Copier copier(*this, 0);
            int value = 0;
            if (carry.initial >= 0) {
                value = copier.rows_of(copier.outside(carry.initial));
                loop.graph = copier.take({value});
            } else {
                loop.graph.nodes.push_back({});
                loop.graph.nodes[0].family = Family::constant;
                loop.graph.outputs = {0};
            }
            loop.results.push_back({value, state_[carry_place(carry)], {}});
            form_.initial.push_back(std::move(loop));
        }
        for (const RecurrenceOutputs::Lead& lead : leads_) {
            RowLoop loop;
            loop.columns = lead.shape.back();
            Copier copier(*this, 0);
            const int value = copier.rows_of(copier.shaped(copier.outside(lead.node), lead.shape));
            loop.graph = copier.take({value});
            loop.results.push_back({value, {}, {lead.place}});
            form_.initial.push_back(std::move(loop));
        }
    }

    void build_readings() {
        for (const Written& written : written_) {
            if (written.when == When::each_step) continue;
            RowLoop loop;
            loop.columns = columns_of(written.node);
            Copier copier(*this, static_cast<int>(form_.phases.size()));
            RowResult result{copier.copy(written.node), {}, {written.place}};
            loop.graph = copier.take({result.node});
            loop.results.push_back(result);
            std::optional<int64_t> step;
            if (written.when == When::after_one) step = written.step;
            form_.readings.push_back({step, std::move(loop)});
        }
    }

    Graph graph_;
    const Recurrence& loop_;
    const FlatLoop* flat_;
    RecurrenceForm form_;
    std::set<std::string> own_names_;
    std::map<int, int> phase_;
    std::vector<int> held_;  // of the body: what is kept in memory
    std::vector<Written> written_;
    std::vector<RecurrenceOutputs::Lead> leads_;
    std::vector<size_t> state_;                 // buffers, one a carry
    std::map<int, std::vector<size_t>> after_;  // carries, by what they become
    std::map<int, size_t> buffer_of_, sums_;
};

}  // namespace

RecurrenceForm recurrence_form(const Problem& problem, const Graph& graph, RecurrenceShare share) {
    // Most graphs that are asked about have none: nothing is copied for them.
    if (has_loops(graph)) {
        if (const std::optional<FlatLoop> flat = flat_loop(graph))
            return Former(problem, flat->graph, flat->loop, &*flat, share).form();
    } else if (const std::vector<Recurrence> found = find_recurrences(graph); found.size() == 1) {
        return Former(problem, graph, found[0], nullptr, share).form();
    }
    RecurrenceForm none;
    none.lacks = "no recurrence";
    return none;
}

}  // namespace strop::playbook
