#include "playbook/recurrence_outputs.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "playbook/step_axes.h"

namespace strop::playbook {

namespace {

constexpr std::ptrdiff_t most_single_outputs = 32;
constexpr size_t most_leads = 8;

size_t at(int id) { return static_cast<size_t>(id); }

class OutputFinder {
public:
    using Written = RecurrenceOutputs::Written;
    using When = RecurrenceOutputs::When;

    OutputFinder(const RecurrenceForm& form, Graph& graph, const Recurrence& loop, const FlatLoop* flat)
        : form_(form),
          graph_(graph),
          loop_(loop),
          flat_(flat) {
        for (size_t k = 0; k < loop_.steps.size(); ++k)
            for (size_t b = 0; b < loop_.body.size(); ++b) place_in_body_.try_emplace(loop_.steps[k][b], k, b);
    }

    RecurrenceOutputs run() {
        for (size_t k = 0; k < graph_.outputs.size(); ++k) {
            const Tensor& tensor = form_.problem.outputs[k];
            if (tensor.dtype != DType::float32) lacking("a recurrence in another type than float32");
            const int id = graph_.outputs[k];
            const bool found = flat_ ? stacked_output(id, tensor) || last_output(id, tensor)
                                     : joined_output(id, tensor) || single_output(id, tensor);
            if (!found) lacking("a recurrence whose values are used in another order");
        }
        std::vector<Written>& written = result_.written;
        std::stable_sort(written.begin(), written.end(),
                         [](const Written& a, const Written& b) { return a.step < b.step; });
        const auto singles = std::count_if(written.begin(), written.end(),
                                           [](const Written& one) { return one.when != When::each_step; });
        if (singles > most_single_outputs) lacking("a recurrence with outputs of many single steps");
        return std::move(result_);
    }

private:
    void lacking(const std::string& why) {
        if (result_.lacks.empty()) result_.lacks = why;
    }

    static bool is_copy(const Node& node) {
        return node.family == Family::pointwise && node.op == "cast" && node.dtype == DType::float32;
    }

    std::string element(const Tensor& tensor, const StepAxes& axes, const std::string& step) const {
        return fmt::format("{}[{}]", tensor.name, axes.place(form_.row + " + i", step));
    }

    StepAxes axes_of(int id, const Expression& steps) const { return {graph_.at(id).shape, form_.rows, steps}; }

    // ---- loops of any length -------------------------------------------------------------------------------

    // The state after the last step, perhaps seen through reshapes and copied.
    bool last_output(int id, const Tensor& tensor) {
        const Node* node = &graph_.at(id);
        for (; !flat_->last.contains(node->id); node = &graph_.at(node->operands[0]))
            if (!is_copy(*node) && !(node->family == Family::layout && node->op == "reshape")) return false;
        const int state = flat_->last.at(node->id);
        result_.written.push_back(
            {state, {tensor.name, element(tensor, axes_of(state, form_.steps), "")}, When::after_all, 0});
        return true;
    }

    // From `id` down to what ends the walk; the views in the order in which they are applied.
    template <class End>
    std::optional<std::pair<int, std::vector<Node>>> walk(int id, End ends) const {
        std::vector<Node> views;
        const Node* node = &graph_.at(id);
        for (; !ends(*node); node = &graph_.at(node->operands[0])) {
            if (is_copy(*node)) continue;
            if (node->family != Family::layout || node->operands.size() != 1) return {};
            views.insert(views.begin(), *node);
        }
        return std::make_pair(node->id, std::move(views));
    }

    // The value of every step along an axis, perhaps turned round, with what no step makes before it or behind it.
    bool stacked_output(int id, const Tensor& tensor) {
        const auto is_stack = [&](const Node& node) { return flat_->stacked.contains(node.id); };
        const auto outer = walk(id, [&](const Node& node) { return is_stack(node) || node.op == "concatenate"; });
        if (!outer) return false;
        int stack = outer->first;
        std::vector<Node> inner;
        std::optional<Node> join;
        if (!is_stack(graph_.at(stack))) join = graph_.at(stack);
        size_t part = 0;
        for (; join && part < join->operands.size(); ++part)
            if (auto found = walk(join->operands[part], is_stack)) {
                stack = found->first;
                inner = std::move(found->second);
                break;
            }
        if (join && part == join->operands.size()) return false;
        const int made = flat_->stacked.at(stack);
        StepAxes axes = axes_of(made, form_.steps);
        axes.stack();
        Node whole;  // a number's stack has no axis for the row of one
        whole.op = "reshape";
        whole.shape = graph_.at(stack).shape;
        if (!axes.see_through(whole)) return false;
        bool backwards = false;
        if (!see_through(inner, axes, backwards)) return false;
        std::vector<RecurrenceOutputs::Lead> leads;
        Expression before = 0;
        if (join && !joined_with(*join, part, made, axes, leads, before)) return false;
        const Expression step = Expression::symbol(form_.step);
        bool turned = false;
        if (!see_through(outer->second, axes, turned) || (turned && join)) return false;
        const Expression in_stack = backwards != turned ? form_.steps - Expression(1) - step : step;
        const Expression place = before.is_literal(0) ? in_stack : in_stack + before;
        result_.written.push_back({made, {tensor.name, element(tensor, axes, place.cpp())}, When::each_step, 0});
        for (RecurrenceOutputs::Lead& lead : leads) {
            lead.place = {tensor.name, element(tensor, axes, lead.place.element)};
            result_.leads.push_back(std::move(lead));
        }
        return true;
    }

    static bool see_through(const std::vector<Node>& views, StepAxes& axes, bool& backwards) {
        for (const Node& view : views) {
            const bool turned = view.op == "reverse" && view.axes.size() == 1 && axes.counts_steps(at(view.axes[0]));
            if (turned) backwards = !backwards;
            else if (!axes.see_through(view)) return false;
        }
        return true;
    }

    // What stands beside the stack in a concatenation along the axis of the steps: a few values each.
    bool joined_with(const Node& join, size_t part, int made, StepAxes& axes,
                     std::vector<RecurrenceOutputs::Lead>& leads, Expression& before) {
        const size_t axis = at(join.axes[0]);
        if (!axes.counts_steps(axis) || !axes.is_row_major()) return false;
        Expression place = 0;
        std::vector<std::pair<int, Expression>> values;  // places along the axis
        for (size_t k = 0; k < join.operands.size(); ++k) {
            const Expression extent = graph_.at(join.operands[k]).shape[axis];
            if (k == part) before = place;
            if (k != part && !extent.is_literal()) return false;
            for (int64_t i = 0; k != part && i < extent.evaluate_integer({}); ++i) {
                if (values.size() == most_leads) return false;
                values.emplace_back(slice_of(join.operands[k], axis, i), place + Expression(i));
            }
            place = place + extent;
        }
        axes.lengthen(join.shape[axis]);
        for (const auto& [node, at_place] : values)
            leads.push_back({node, graph_.at(made).shape, {"", at_place.cpp()}});  // the element is known later
        return true;
    }

    int slice_of(int id, size_t axis, int64_t place) {
        if (graph_.at(id).shape[axis].is_literal(1)) return id;
        Node slice = whole_slice(graph_.at(id));
        slice.id = static_cast<int>(graph_.nodes.size());
        slice.begin[axis] = place;
        slice.end[axis] = place + 1;
        slice.shape[axis] = 1;
        graph_.nodes.push_back(std::move(slice));
        return graph_.nodes.back().id;
    }

    // ---- unrolled loops ------------------------------------------------------------------------------------

    // A value of one step, perhaps seen through reshapes and copied.
    bool single_output(int id, const Tensor& tensor) {
        const Node* node = &graph_.at(id);
        for (; !place_in_body_.contains(node->id); node = &graph_.at(node->operands[0]))
            if (!is_copy(*node) && !(node->family == Family::layout && node->op == "reshape")) return false;
        const auto [step, place] = place_in_body_.at(node->id);
        const int inside = loop_.body[place];
        const bool last = step + 1 == loop_.steps.size();
        result_.written.push_back({inside,
                                   {tensor.name, element(tensor, axes_of(inside, form_.steps), "")},
                                   last ? When::after_all : When::after_one,
                                   static_cast<int64_t>(step)});
        return true;
    }

    // One value of every step, in order or from the last to the first, side by side along an axis; perhaps turned round
    // and copied. Before that of the first step there may be a few values that no step makes: where a loop began.
    bool joined_output(int id, const Tensor& tensor) {
        std::vector<const Node*> views;
        const Node* node = &graph_.at(id);
        for (; node->op != "concatenate"; node = &graph_.at(node->operands[0])) {
            if (is_copy(*node)) continue;
            if (node->family != Family::layout || (node->op != "reshape" && node->op != "transpose")) return false;
            views.insert(views.begin(), node);
        }
        const size_t steps = loop_.steps.size(), count = node->operands.size();
        if (count < steps || count - steps > most_leads) return false;
        const size_t leads = count - steps;
        const std::optional<Joined> foremost = joined_part(node->operands[0], static_cast<int64_t>(count));
        const bool backwards = foremost && foremost->step > 0;
        const size_t first_step = backwards ? 0 : leads;  // in the concatenation
        std::optional<Joined> first;
        for (size_t k = 0; k < steps; ++k) {
            std::optional<Joined> one = joined_part(node->operands[first_step + k], static_cast<int64_t>(count));
            if (!one || one->step != (backwards ? steps - 1 - k : k)) return false;
            if (first && one->place != first->place) return false;
            if (!first) first = one;
        }
        const size_t first_lead = backwards ? steps : 0;
        for (size_t k = first_lead; k < first_lead + leads; ++k)
            if (graph_.at(node->operands[k]).shape != graph_.at(node->operands[first_step]).shape) return false;
        if (leads > 0 && !first->axes.is_row_major()) return false;
        first->axes.join(at(node->axes[0]));
        for (const Node* view : views)
            if (!first->axes.see_through(*view)) return false;
        std::string step = leads == 0 ? form_.step : fmt::format("{} + {}", form_.step, leads);
        if (backwards) step = fmt::format("{} - {}", steps - 1, form_.step);
        const int made = loop_.body[first->place];
        result_.written.push_back({made, {tensor.name, element(tensor, first->axes, step)}, When::each_step, 0});
        for (size_t k = first_lead; k < first_lead + leads; ++k)
            result_.leads.push_back({node->operands[k],
                                     graph_.at(made).shape,
                                     {tensor.name, element(tensor, first->axes, std::to_string(k))}});
        return true;
    }

    // A step's value as a concatenation reads it.
    struct Joined {
        size_t step, place;
        StepAxes axes;
    };
    std::optional<Joined> joined_part(int id, int64_t joined) const {
        const auto found = walk(id, [&](const Node& node) { return place_in_body_.contains(node.id); });
        if (!found) return {};
        const auto [step, place] = place_in_body_.at(found->first);
        Joined result{step, place, axes_of(found->first, joined)};
        for (const Node& view : found->second)
            if (!result.axes.see_through(view)) return {};
        return result;
    }

    const RecurrenceForm& form_;
    Graph& graph_;
    const Recurrence& loop_;
    const FlatLoop* flat_;
    std::map<int, std::pair<size_t, size_t>> place_in_body_;  // of any step's node: the step, the place in the body
    RecurrenceOutputs result_;
};

}  // namespace

RecurrenceOutputs find_outputs(const RecurrenceForm& form, Graph& graph, const Recurrence& loop, const FlatLoop* flat) {
    return OutputFinder(form, graph, loop, flat).run();
}

}  // namespace strop::playbook
