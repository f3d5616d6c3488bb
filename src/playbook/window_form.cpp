#include "playbook/window_form.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph/rewrite.h"
#include "playbook/argument_names.h"

namespace strop::playbook {

namespace {

constexpr size_t most_axes = 3;

// Names that kernels use themselves.
const std::set<std::string>& reserved() {
    static const std::set<std::string> names = {"planes",     "plane",       "rows",        "row",
                                                "depth",      "height",      "width",       "inner",
                                                "out_depth",  "out_height",  "out_width",   "front",
                                                "top",        "side",        "deep",        "down",
                                                "across",     "i",           "h",           "j",
                                                "c",          "t",           "s",           "k",
                                                "lanes",      "begin",       "end",         "left",
                                                "right",      "largest",     "smallest",    "window_sum",
                                                "start",      "vec",         "vmask",       "load",
                                                "store",      "splat",       "select",      "vmax",
                                                "vmin",       "VL",          "TILE",        "PARALLEL_MIN",
                                                "Taps",       "every",       "first",       "count",
                                                "threads",    "me",          "scratch",     "folded",
                                                "team",       "load_part",   "store_part",  "main",
                                                "float",      "int",         "double",      "bool",
                                                "auto",       "const",       "for",         "if",
                                                "new",        "delete",      "task",        "tiles",
                                                "window",     "reach",       "narrow",      "wide",
                                                "fold_rows",  "fold_window", "each_vector", "taps_inside",
                                                "load_every", "load_tail",   "store_tail",  "vexp",
                                                "vlog",       "vabs",        "fma",         "span",
                                                "stride",     "padded",      "work"};
    return names;
}

// An axis of the value that is reduced, as a walk along an axis of what it is a view of.
struct Walk {
    int axis;         // -1: an axis of extent 1 that the viewed value does not have
    Expression step;  // elements of that axis from one place to the next
};

class Recogniser {
public:
    Recogniser(const Problem& problem, const Graph& graph) {
        form_.problem = problem;
        form_.graph = graph;
    }

    WindowForm run() {
        if (find_reduction() && follow_views() && place_axes() && read_parts()) check_padding();
        return std::move(form_);
    }

private:
    bool fail(const std::string& what) {
        if (form_.lacks.empty()) form_.lacks = what;
        return false;
    }
    const Node& node(int id) const { return form_.graph.at(id); }

    bool find_reduction() {
        std::vector<int> found;
        for (const Node& node : form_.graph.nodes)
            if (node.family == Family::reduction) found.push_back(node.id);
        if (found.size() != 1)
            return fail(found.empty() ? "a reduction over windows" : "several reductions over windows");
        if (form_.graph.outputs.size() != 1 || form_.problem.outputs.size() != 1)
            return fail("several outputs of windows");
        free_names(form_.problem, form_.graph, reserved());
        form_.reduction = found[0];
        const Node& reduction = node(found[0]);
        form_.op = reduction.op;
        if (form_.op != "max" && form_.op != "min" && form_.op != "sum")
            return fail(fmt::format("reduction '{}' over windows", form_.op));
        if (reduction.keepdims) return fail("windows whose axes are kept");
        if (reduction.dtype != DType::float32) return fail("windows of " + name_of(reduction.dtype));
        if (computed_in(form_.problem.outputs[0].dtype) != DType::float32)
            return fail("outputs of type " + name_of(form_.problem.outputs[0].dtype));
        form_.y = form_.problem.outputs[0].name;
        return true;
    }

    // Down to the value that windows are taken of.
    bool follow_views() {
        source_ = node(form_.reduction).operands[0];
        for (size_t axis = 0; axis < node(source_).shape.size(); ++axis) {
            walks_.push_back({static_cast<int>(axis), 1});
            offsets_.push_back(0);
        }
        while (node(source_).family == Family::layout) {
            const Node& view = node(source_);
            if (input_behind(form_.graph, source_) && !splits_ && view.op == "reshape" && has_windows()) break;
            if (view.op == "slice") slice(view);
            else if (view.op == "window") window(view);
            else if (view.op == "pad" && !padded_) pad(view);
            else if (view.op == "reshape") {
                if (!split(view)) return false;
            } else return fail(fmt::format("layout '{}' under windows", view.op));
            source_ = view.operands[0];
        }
        return true;
    }

    // Whether the walks have found some, so that a reshape below them need not be one.
    bool has_windows() const {
        std::set<int> seen;
        for (const Walk& walk : walks_)
            if (walk.axis >= 0 && !seen.insert(walk.axis).second) return true;
        return false;
    }

    void slice(const Node& view) {
        for (size_t axis = 0; axis < offsets_.size(); ++axis)
            offsets_[axis] = view.begin[axis] + view.step[axis] * offsets_[axis];
        for (Walk& walk : walks_)
            if (walk.axis >= 0) walk.step = walk.step * view.step[static_cast<size_t>(walk.axis)];
    }

    void window(const Node& view) {
        const size_t rank = node(view.operands[0]).shape.size();
        for (size_t k = 0; k < view.axes.size(); ++k) {
            const size_t axis = static_cast<size_t>(view.axes[k]);
            offsets_[axis] = offsets_[axis] + offsets_[rank + k];
            for (Walk& walk : walks_)
                if (walk.axis == static_cast<int>(rank + k)) walk.axis = view.axes[k];
        }
        offsets_.resize(rank);
    }

    void pad(const Node& view) {
        padded_ = true;
        form_.padding = view.pad_value;
        for (size_t axis = 0; axis < offsets_.size(); ++axis) {
            offsets_[axis] = offsets_[axis] - view.begin[axis];
            if (!view.begin[axis].is_literal(0) || !view.end[axis].is_literal(0))
                padded_axes_.insert(static_cast<int>(axis));
        }
    }

    // Each axis of the operand stays, is split in two, or is left out where its extent is 1.
    bool split(const Node& view) {
        const Shape from = node(view.operands[0]).shape, to = view.shape;
        std::vector<Walk> image(to.size(), Walk{-1, 1});
        std::vector<Expression> offsets(from.size(), 0);
        std::set<int> padded;
        size_t a = 0;
        for (size_t axis = 0; axis < from.size(); ++axis) {
            while (a < to.size() && to[a].is_literal(1) && !from[axis].is_literal(1)) ++a;
            const bool two =
                a + 1 < to.size() && !(to[a] == from[axis]) && to[a + 1].is_literal() &&
                (to[a] == Expression::floor_divide(from[axis], to[a + 1]) || same_value(to[a] * to[a + 1], from[axis]));
            if (a >= to.size() || (!two && !(to[a] == from[axis])))
                return fail("a reshape that splits no axis into windows");
            image[a] = {static_cast<int>(axis), two ? to[a + 1] : Expression(1)};
            if (padded_axes_.contains(static_cast<int>(a))) padded.insert(static_cast<int>(axis));
            offsets[axis] = image[a].step * offsets_[a];
            if (two) image[a + 1] = {static_cast<int>(axis), 1};
            if (two) offsets[axis] = offsets[axis] + offsets_[a + 1];
            splits_ = splits_ || two;
            a += two ? 2 : 1;
        }
        while (a < to.size() && to[a].is_literal(1)) ++a;
        if (a != to.size()) return fail("a reshape that splits no axis into windows");
        for (Walk& walk : walks_)
            if (walk.axis >= 0)
                walk = {image[static_cast<size_t>(walk.axis)].axis,
                        walk.step * image[static_cast<size_t>(walk.axis)].step};
        for (size_t k = 0; k < to.size(); ++k)
            if (image[k].axis < 0 && !offsets_[k].is_literal(0)) return fail("windows that lie in padding");
        offsets_ = offsets;
        padded_axes_ = padded;
        return true;
    }

    static bool is_plain(const WindowAxis& axis) {
        return axis.taps.is_literal(1) && axis.stride.is_literal(1) && axis.before.is_literal(0) &&
               axis.out == axis.extent;
    }

    // Which of the source's axes have windows: they become neighbours, with windows of one element between
    // them.
    bool place_axes() {
        const Node& reduction = node(form_.reduction);
        const Shape& reduced = node(reduction.operands[0]).shape;
        const Shape& extents = node(source_).shape;
        std::vector<WindowAxis> all(extents.size());
        std::vector<bool> placed(extents.size(), false), tapped(extents.size(), false);
        int last = -1;
        for (size_t k = 0; k < walks_.size(); ++k) {
            const bool tap =
                std::find(reduction.axes.begin(), reduction.axes.end(), static_cast<int>(k)) != reduction.axes.end();
            const Walk& walk = walks_[k];
            if (walk.axis < 0) {
                if (!reduced[k].is_literal(1)) return fail("windows along an axis of extent 1");
                continue;
            }
            const size_t axis = static_cast<size_t>(walk.axis);
            if (tap) {
                if (tapped[axis]) return fail("windows of windows");
                tapped[axis] = true;
                all[axis].taps = reduced[k];
                all[axis].dilation = walk.step;
            } else {
                if (walk.axis <= last) return fail("windows along several axes of one, or transposed");
                last = walk.axis;
                placed[axis] = true;
                all[axis].out = reduced[k];
                all[axis].stride = walk.step;
            }
        }
        size_t begin = extents.size(), end = 0, taps = 0;
        for (size_t axis = 0; axis < extents.size(); ++axis) {
            if (!placed[axis] && !extents[axis].is_literal(1)) return fail("windows as long as an axis");
            if (!placed[axis]) all[axis].out = 1;
            all[axis].extent = extents[axis];
            all[axis].before = Expression(0) - offsets_[axis];
            all[axis].padded = padded_axes_.contains(static_cast<int>(axis));
            taps += !all[axis].taps.is_literal(1);
            if (is_plain(all[axis])) continue;
            begin = std::min(begin, axis);
            end = axis + 1;
        }
        if (taps == 0) return fail("windows of more than one element");
        if (end - begin > most_axes) return fail("windows over more than three axes, or axes far apart");
        form_.outer.assign(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(begin));
        form_.axes.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                          all.begin() + static_cast<std::ptrdiff_t>(end));
        form_.inner = product({extents.begin() + static_cast<std::ptrdiff_t>(end), extents.end()});
        return true;
    }

    bool read_parts() {
        form_.before = pointwise_part(form_.graph, source_);
        if (!form_.before.lacks.empty()) return fail(form_.before.lacks + ", before windows");
        int result = form_.graph.outputs[0];
        while (node(result).family == Family::layout && node(result).op == "reshape") result = node(result).operands[0];
        form_.after = pointwise_part(form_.graph, result, form_.reduction);
        if (!form_.after.lacks.empty()) return fail(form_.after.lacks + ", after windows");
        const Shape& shape = node(result).shape;
        if (node(result).dtype != DType::float32 || !(shape == node(form_.reduction).shape) ||
            shape.size() != node(source_).shape.size())
            return fail("windows whose result has another shape");
        for (const PartOperand& operand : form_.before.operands)
            if (!spans_all_or_none(operand, false))
                return fail("an operand before windows that varies along some of their axes");
        for (const PartOperand& operand : form_.after.operands)
            if (!spans_all_or_none(operand, true))
                return fail("an operand after windows that varies along some of their axes");
        return true;
    }

    // Along the windows' axes and what lies behind them; behind them alone where that is allowed.
    bool spans_all_or_none(const PartOperand& operand, bool inner_alone) const {
        const size_t begin = form_.outer.size(), end = begin + form_.axes.size();
        size_t windows = 0, inner = 0, inner_axes = 0, long_axes = 0;
        const Shape& shape = node(form_.after.root).shape;
        for (size_t axis = begin; axis < operand.spans.size(); ++axis) {
            if (shape[axis].is_literal(1)) continue;
            (axis < end ? windows : inner) += operand.spans[axis];
            ++(axis < end ? long_axes : inner_axes);
        }
        if (windows == long_axes && inner == inner_axes) return true;
        if (windows == 0 && inner == 0) return true;
        const bool any_outer =
            std::any_of(operand.spans.begin(), operand.spans.begin() + static_cast<std::ptrdiff_t>(begin),
                        [](bool b) { return b; });
        return inner_alone && windows == 0 && inner == inner_axes && !any_outer;
    }

    bool check_padding() {
        if (!padded_) return true;
        const double start = form_.op == "max" ? -INFINITY : form_.op == "min" ? INFINITY : 0;
        form_.neutral = form_.padding == start;
        return form_.neutral || form_.op != "sum" || fail("sums over windows of padding that counts");
    }

    WindowForm form_;
    int source_ = 0;
    std::vector<Walk> walks_;          // one an axis of the reduction's operand
    std::vector<Expression> offsets_;  // one an axis of `source_`: where the walks begin
    std::set<int> padded_axes_;        // of `source_`
    bool padded_ = false, splits_ = false;
};

}  // namespace

WindowForm window_form(const Problem& problem, const Graph& graph) { return Recogniser(problem, graph).run(); }

}  // namespace strop::playbook
