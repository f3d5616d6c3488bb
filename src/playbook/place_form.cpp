#include "playbook/place_form.h"

#include <fmt/format.h>

#include "playbook/argument_names.h"

namespace strop::playbook {

namespace {

class Recogniser {
public:
    Recogniser(const Problem& problem, const Graph& graph) {
        form_.problem = problem;
        form_.graph = graph;
    }

    PlaceForm run() {
        read();
        return std::move(form_);
    }

private:
    bool fail(const std::string& what) {
        form_.lacks = what;
        return false;
    }

    // What an output holds, seen through reshapes, which leave the order alone.
    const Node& behind(int id) const {
        const Node* node = &form_.graph.at(id);
        while (node->family == Family::layout && node->op == "reshape") node = &form_.graph.at(node->operands[0]);
        return *node;
    }

    bool read() {
        const size_t outputs = form_.graph.outputs.size();
        if (outputs != form_.problem.outputs.size() || outputs < 1 || outputs > 2)
            return fail("a search with more results");
        const std::map<std::string, Expression> original = free_names(form_.problem, form_.graph, axis_kernel_names());
        const Node* search = nullptr;
        for (int id : form_.graph.outputs)
            if (const std::string& op = behind(id).op; op == "argmax" || op == "argmin") search = &behind(id);
        if (!search || search->axes.size() != 1) return fail("the place of an extremum along one axis");
        form_.largest = search->op == "argmax";
        for (size_t k = 0; k < outputs; ++k) {
            const Node& node = behind(form_.graph.outputs[k]);
            const Tensor& to = form_.problem.outputs[k];
            const bool place = node.id == search->id;
            if (!place && (node.family != Family::reduction || node.op != (form_.largest ? "max" : "min") ||
                           node.operands != search->operands || node.axes != search->axes))
                return fail(fmt::format("{} '{}' beside a search", name_of(node.family), node.op));
            if (computed_in(to.dtype) != (place ? DType::int64 : DType::float32))
                return fail("outputs of type " + name_of(to.dtype));
            std::string& name = place ? form_.place : form_.extremum;
            if (!name.empty()) return fail("a search with one result twice");
            name = to.name;
        }
        const Node& source = form_.graph.at(search->operands[0]);
        if (source.dtype != DType::float32) return fail("a search in values of type " + name_of(source.dtype));
        form_.nest = axis_nest(source.shape, search->axes[0]);
        form_.depth = form_.nest.depth.substitute(original);
        form_.value = pointwise_part(form_.graph, source.id);
        if (!form_.value.lacks.empty()) return fail(form_.value.lacks);
        form_.lacks = unreadable(form_.nest, form_.value);
        return form_.lacks.empty();
    }

    PlaceForm form_;
};

}  // namespace

PlaceForm place_form(const Problem& problem, const Graph& graph) { return Recogniser(problem, graph).run(); }

}  // namespace strop::playbook
