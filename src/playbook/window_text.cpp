#include "playbook/window_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "playbook/halves.h"
#include "playbook/loop_helpers.h"
#include "playbook/loop_text.h"
#include "playbook/window_helpers.h"

namespace strop::playbook {

namespace {

constexpr int64_t widest_stride = 4;  // whose elements are picked out of whole vectors
constexpr int64_t most_spelled = 8;   // taps that are written out

struct AxisNames {
    std::string extent, out, start, place, taps;  // "height", "out_height", "top", "i", "down"
};

class Writer {
public:
    Writer(const WindowForm& form, const WindowPlan& plan) : form_(form), plan_(plan) {
        const std::vector<AxisNames> all = {{"depth", "out_depth", "front", "h", "deep"},
                                            {"height", "out_height", "top", "i", "down"},
                                            {"width", "out_width", "side", "j", "across"}};
        names_.assign(all.end() - static_cast<std::ptrdiff_t>(form.axes.size()), all.end());
        lanes_inside_ = !form.inner.is_literal(1);
        folded_ = form.op == "max" ? "largest" : form.op == "min" ? "smallest" : "window_sum";
        used_ = {"load", "store", "load_tail", "store_tail", "splat"};
        if (!folding(form.op).helper.empty()) used_.insert(folding(form.op).helper);
        for (const WindowAxis& axis : form.axes) clipped_ = clipped_ || axis.padded;
    }

    KernelParts write() {
        lines_ = Lines(1, function_head(form_.problem) + " {\n");
        extents();
        if (plan_.kind != WindowPlan::Kind::direct) folded_rows();
        else if (lanes_inside_) inner_lanes();
        else direct();
        lines_.add("}");
        std::string helpers = for_each_type(form_.problem, tail_helpers()) + vector_walker();
        if (clipped_) helpers += taps_helper();
        if (strided_) helpers += strided_helpers();
        if (scratch_) helpers += scratch_helper();
        if (every_) helpers += every_helper();
        return {lines_.text(), helpers, used_, lacks_};
    }

private:
    const WindowAxis& last() const { return form_.axes.back(); }
    size_t far() const { return form_.axes.size() - 1; }  // axes that the rows of a window come from

    static int64_t value(const Expression& literal) { return literal.evaluate_integer({}); }

    // "2 * i - 1"
    static std::string start_of(const WindowAxis& axis, const std::string& place) {
        std::string text = times(axis.stride, place);
        if (axis.before.is_literal(0)) return text;
        const std::string before = axis.before.cpp();
        if (axis.before.is_literal())
            return fmt::format("{} {} {}", text, value(axis.before) > 0 ? "-" : "+", std::abs(value(axis.before)));
        return fmt::format("{} - ({})", text, before);
    }

    void extents() {
        const std::string planes = product(form_.outer).cpp();
        std::string in = fmt::format("const int64_t planes = {}", planes), out, rows = "planes";
        for (size_t a = 0; a < names_.size(); ++a) {
            in += fmt::format(", {} = {}", names_[a].extent, form_.axes[a].extent.cpp());
            out += fmt::format("{}{} = {}", a ? ", " : "const int64_t ", names_[a].out, form_.axes[a].out.cpp());
            if (a < far()) rows += " * " + names_[a].out;
        }
        if (lanes_inside_) in += ", inner = " + form_.inner.cpp();
        lines_.add(in + ";");
        lines_.add(out + ";");
        lines_.add(fmt::format("const int64_t rows = {};", rows));
        std::string work = "planes";
        for (const AxisNames& axis : names_) work += " * " + axis.extent;
        lines_.add(fmt::format("const int64_t work = {}{};", work, inner_factor()));
    }

    std::string inner_factor() const { return lanes_inside_ ? " * inner" : ""; }
    std::string neutral() const { return folding(form_.op).start; }
    std::string beyond() const {
        if (form_.padding == -INFINITY) return "-__builtin_inff()";
        if (form_.padding == INFINITY) return "__builtin_inff()";
        return fmt::format("{}f", fmt::format("{:#.9g}", static_cast<double>(static_cast<float>(form_.padding))));
    }
    std::string folded(const std::string& with) const {
        return fmt::format("{} = {};", folded_, fold(form_.op, folded_, with));
    }

    void open_team(const std::string& tasks) {
        lines_.add(fmt::format("const int threads = {} > 1 && work > PARALLEL_MIN ? team::size() : 1;", tasks));
        lines_.add("team::parallel(threads, [=](team::Member me) {");
    }

    // ---- one row of windows

    // Where the row lies: plane, place along the far axes, the taps that are inside of them, pointers.
    void open_row() {
        if (far() == 1)
            lines_.add(has_planes() ? "const int64_t plane = row / out_height, i = row % out_height;"
                                    : "const int64_t i = row;");
        if (far() == 2 && has_planes()) lines_.add("const int64_t plane = row / out_height / out_depth;");
        if (far() == 2) lines_.add("const int64_t h = row / out_height % out_depth, i = row % out_height;");
        std::vector<std::string> firsts;  // row of each far axis at which the window begins
        for (size_t a = 0; a < far(); ++a) {
            const WindowAxis& axis = form_.axes[a];
            const AxisNames& name = names_[a];
            firsts.push_back(start_of(axis, name.place));
            if (!axis.padded) continue;
            lines_.add(fmt::format("const int64_t {} = {};", name.start, firsts.back()));
            lines_.add(fmt::format("const Taps {} = taps_inside({}, {}, {}, {});", name.taps, name.start,
                                   axis.taps.cpp(), axis.dilation.cpp(), name.extent));
            firsts.back() = fmt::format("{} + {}", name.start, times(axis.dilation, name.taps + ".first"));
        }
        for (const PartOperand& operand : form_.before.operands) {
            if (!along(operand)) {
                add_plane_value(operand, plane_of(operand));
                continue;
            }
            std::string row = plane_of(operand);
            for (size_t a = 0; a < far(); ++a)
                row = row == "0" ? "(" + firsts[a] + ")"
                                 : fmt::format("({} * {} + {})", row, names_[a].extent, firsts[a]);
            lines_.add(row == "0" ? fmt::format("const {1}* const {0}_rows = {0};", operand.name,
                                                element_type(form_.problem, operand.name))
                                  : fmt::format("const {3}* const {0}_rows = {0} + {1} * width{2};", operand.name, row,
                                                inner_factor(), element_type(form_.problem, operand.name)));
        }
        for (const PartOperand& operand : form_.after.operands)
            if (!along(operand) && !inner_alone(operand)) add_plane_value(operand, plane_of(operand));
    }

    bool has_planes() const { return !product(form_.outer).is_literal(1); }
    std::string plane_name() const { return far() == 0 ? "row" : "plane"; }

    void add_plane_value(const PartOperand& operand, const std::string& plane) {
        const std::string name = operand.name + "_value";
        if (declared_.insert(name).second)
            lines_.add(fmt::format("const float {} = {}[{}];", name, operand.name, plane));
    }

    // The slice of the outer axes that an operand has.
    std::string plane_of(const PartOperand& operand) const {
        std::set<size_t> members;
        std::vector<Expression> long_axes;
        for (size_t axis = 0; axis < form_.outer.size(); ++axis) {
            if (form_.outer[axis].is_literal(1)) continue;  // no slices
            if (operand.spans[axis]) members.insert(long_axes.size());
            long_axes.push_back(form_.outer[axis]);
        }
        return slice_index(long_axes, members, plane_name());
    }

    bool any_behind_outer(const PartOperand& operand) const {
        return std::any_of(operand.spans.begin() + static_cast<std::ptrdiff_t>(form_.outer.size()), operand.spans.end(),
                           [](bool b) { return b; });
    }
    bool inner_alone(const PartOperand& operand) const {
        const auto begin = operand.spans.begin() + static_cast<std::ptrdiff_t>(form_.outer.size());
        const auto end = begin + static_cast<std::ptrdiff_t>(form_.axes.size());
        const bool windows = std::any_of(begin, end, [](bool b) { return b; });
        if (windows || !any_behind_outer(operand)) return false;
        return std::any_of(form_.axes.begin(), form_.axes.end(),
                           [](const WindowAxis& axis) { return !axis.out.is_literal(1); });
    }
    // Along the windows' axes.
    bool along(const PartOperand& operand) const { return any_behind_outer(operand) && !inner_alone(operand); }

    // ---- values

    // The value that windows are taken of, at `at` of the row's pointers.
    std::string value_before(const std::string& at, const std::string& lanes, bool scalar) {
        std::map<int, std::string> known;
        std::set<int> uniform;
        for (const PartOperand& operand : form_.before.operands) {
            if (!along(operand)) {
                known[operand.node] = operand.name + "_value";
                uniform.insert(operand.node);
                continue;
            }
            known[operand.node] = operand.name + "_j";
            std::string read = scalar ? fmt::format("{}_rows[{}]", operand.name, at)
                                      : load_text(operand.name + "_rows + " + at, lanes);
            if (form_.before.root == operand.node) return read;  // nothing is computed
            lines_.add(fmt::format("const {} {}_j = {};", scalar ? "float" : "vec", operand.name, read));
        }
        return value_text(form_.before, known, uniform, scalar);
    }

    static std::string load_text(const std::string& address, const std::string& lanes) {
        return lanes.empty() ? fmt::format("load({})", address) : fmt::format("load_part({}, {})", address, lanes);
    }

    std::string value_text(const PointwisePart& part, const std::map<int, std::string>& known,
                           const std::set<int>& uniform, bool scalar) {
        PartValue value = part_value(form_.graph, part, known, uniform, scalar);
        lines_.add(value.statements);
        used_.merge(value.helpers);
        if (lacks_.empty()) lacks_ = value.lacks;
        return value.result;
    }

    // Stores what follows a window's value. `place`: of the element in its row of `y`.
    void store(const std::string& place, const std::string& channel, const std::string& lanes, bool scalar) {
        std::map<int, std::string> known = {{form_.reduction, folded_}};
        std::set<int> uniform;
        for (const PartOperand& operand : form_.after.operands) {
            if (inner_alone(operand)) {
                known[operand.node] = operand.name + "_c";
                lines_.add(fmt::format("const vec {0}_c = {1};", operand.name,
                                       load_text(operand.name + " + " + channel, lanes)));
            } else if (!along(operand)) {
                known[operand.node] = operand.name + "_value";
                uniform.insert(operand.node);
            } else {
                known[operand.node] = operand.name + "_j";
                std::string row = plane_of(operand);
                if (row == plane_name()) row = "row";
                else
                    for (size_t a = 0; a < far(); ++a)
                        row = row == "0" ? names_[a].place
                                         : fmt::format("({} * {} + {})", row, names_[a].out, names_[a].place);
                const std::string address =
                    row == "0" ? place : fmt::format("{} * out_width{} + {}", row, inner_factor(), place);
                lines_.add(scalar ? fmt::format("const float {0}_j = {0}[{1}];", operand.name, address)
                                  : fmt::format("const vec {0}_j = {1};", operand.name,
                                                load_text(operand.name + " + " + address, lanes)));
            }
        }
        const std::string result = value_text(form_.after, known, uniform, scalar);
        const std::string address = fmt::format("row * out_width{} + {}", inner_factor(), place);
        if (scalar) lines_.add(fmt::format("{}[{}] = {};", form_.y, address, result));
        else if (lanes.empty()) lines_.add(fmt::format("store({} + {}, {});", form_.y, address, result));
        else lines_.add(fmt::format("store_part({} + {}, {}, {});", form_.y, address, result, lanes));
    }

    // ---- folds

    // Loops over the rows of a window; `count`s are variables of the taps' names. The offset of a row.
    std::string open_far_taps() {
        const std::vector<std::string> variables =
            far() == 2 ? std::vector<std::string>{"s", "t"} : std::vector<std::string>{"t"};
        std::string offset;
        for (size_t a = 0; a < far(); ++a) {
            const std::string& t = variables[a];
            lines_.add(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{", t, taps_count(a)));
            const std::string step = times(form_.axes[a].dilation, t);
            offset = a == 0 ? step : fmt::format("({} * {} + {})", offset, names_[a].extent, step);
        }
        return offset;
    }
    void close_far_taps() {
        for (size_t a = 0; a < far(); ++a) lines_.add("}");
    }
    std::string taps_count(size_t a) const {
        return form_.axes[a].padded ? names_[a].taps + "_count" : form_.axes[a].taps.cpp();
    }

    // The start of a window some of whose taps may be missing.
    std::string start(const std::vector<size_t>& axes) const {
        if (form_.neutral) return neutral();
        std::string missing;
        for (size_t a : axes)
            if (form_.axes[a].padded)
                missing += fmt::format("{}{}.count < {}", missing.empty() ? "" : " || ", names_[a].taps,
                                       form_.axes[a].taps.cpp());
        return missing.empty() ? neutral() : fmt::format("{} ? {} : {}", missing, beyond(), neutral());
    }

    std::vector<size_t> far_axes() const {
        std::vector<size_t> axes;
        for (size_t a = 0; a < far(); ++a) axes.push_back(a);
        return axes;
    }

    // Where windows may reach over ends: a lambda of the counts of taps, so that the compiler unrolls loops of whole
    // windows. Its head, and its end with the calls.
    void open_counted(const std::string& name, const std::vector<size_t>& axes) {
        std::string parameters;
        for (size_t a : axes)
            if (form_.axes[a].padded)
                parameters += fmt::format("{}int64_t {}_count", parameters.empty() ? "" : ", ", names_[a].taps);
        if (parameters.empty()) return;
        lines_.add(fmt::format("const auto {} = [&]({}) __attribute__((always_inline)) {{", name, parameters));
    }
    void close_counted(const std::string& name, const std::vector<size_t>& axes) {
        std::string whole, arguments, constants;
        for (size_t a : axes) {
            if (!form_.axes[a].padded) continue;
            const std::string count = names_[a].taps + ".count", taps = form_.axes[a].taps.cpp();
            whole += fmt::format("{}{} == {}", whole.empty() ? "" : " && ", count, taps);
            arguments += (arguments.empty() ? "" : ", ") + count;
            constants += (constants.empty() ? "" : ", ") + taps;
        }
        if (whole.empty()) return;
        lines_.add("};");
        lines_.add(fmt::format("if ({}) {}({});", whole, name, constants));
        lines_.add(fmt::format("else {}({});", name, arguments));
    }

    // ---- windows folded where they lie, lanes along the row

    void direct() {
        const int64_t stride = value(last().stride), taps = value(last().taps), dilation = value(last().dilation);
        const int64_t reach =
            (taps - 1) * dilation / stride * stride + stride;  // of a window's groups of `stride` taps
        const int64_t before = value(last().before);
        lines_.add(fmt::format("// Vectors of windows begin {}: all that they read lies inside of the row.",
                               last().padded ? "in [left, right]" : "up to `right`"));
        if (last().padded) lines_.add(fmt::format("const int64_t left = {};", (before + stride - 1) / stride));
        const std::string room =
            before == reach ? "" : fmt::format(" {} {}", before > reach ? "+" : "-", std::abs(before - reach));
        lines_.add(fmt::format("const int64_t room = width{} - {}(VL - 1);", room,
                               stride == 1 ? "" : std::to_string(stride) + " * "));
        lines_.add(stride == 1 ? "const int64_t right = room;"
                               : fmt::format("const int64_t right = room < 0 ? -1 : room / {};", stride));
        lines_.add("const int64_t tiles = (out_width + TILE - 1) / TILE;");
        open_team("rows * tiles");
        lines_.add("for (int64_t task = me.begin(rows * tiles); task < me.end(rows * tiles); ++task) {");
        lines_.add("const int64_t row = task / tiles, begin = task % tiles * TILE;");
        lines_.add("const int64_t end = out_width - begin < TILE ? out_width : begin + TILE;");
        open_row();
        open_counted("fold_window", far_axes());
        fold_rows(far_axes());
        wide();
        narrow();
        walk();
        close_counted("fold_window", far_axes());
        lines_.add("}");
        lines_.add("});");
    }

    // A tile of the row, by wide(j) and narrow(j).
    void walk() {
        const bool left = last().padded;  // there may be narrow ones at the begin
        lines_.add("int64_t j = begin;");
        if (left) lines_.add("for (; j < end && j < left; ++j) narrow(j);");
        lines_.add("for (; j + VL <= end && j <= right; j += VL) wide(j);");
        lines_.add("// The last vector reaches back over windows that are done already.");
        lines_.add("const int64_t last = end - VL < right ? end - VL : right;");
        lines_.add(fmt::format("if (j < end && last >= begin{} && last + VL > j) {{", left ? " && last >= left" : ""));
        lines_.add("wide(last);");
        lines_.add("j = last + VL;");
        lines_.add("}");
        lines_.add("for (; j < end; ++j) narrow(j);");
    }

    // `fold_rows(k)`: a vector of the row's elements from k on, folded over the rows of the window.
    void fold_rows(const std::vector<size_t>& axes) {
        lines_.add("const auto fold_rows = [&](int64_t k) __attribute__((always_inline)) {");
        if (axes.empty()) {
            lines_.add(fmt::format("return {};", value_before("k", "", false)));
            lines_.add("};");
            return;
        }
        lines_.add(fmt::format("vec {} = splat({});", folded_, start(axes)));
        const std::string offset = open_far_taps();
        const std::string value = value_before(fmt::format("{} * width + k", offset), "", false);
        lines_.add(folded(value));
        close_far_taps();
        lines_.add(fmt::format("return {};", folded_));
        lines_.add("};");
    }

    void wide() {
        const int64_t stride = value(last().stride), taps = value(last().taps), dilation = value(last().dilation),
                      before = value(last().before);
        every_ = every_ || stride > 1;
        lines_.add("const auto wide = [&](int64_t j) __attribute__((always_inline)) {");
        for (int64_t t = 0; t < taps; ++t) {
            const int64_t place = t * dilation, group = place / stride * stride - before;
            std::string from = times(last().stride, "j");
            if (group != 0) from += fmt::format(" {} {}", group > 0 ? "+" : "-", std::abs(group));
            std::string picked = stride == 1
                                     ? fmt::format("fold_rows({})", from)
                                     : fmt::format("every<{}>(fold_rows, {}, {})", stride, from, place % stride);
            if (t == 0) lines_.add(fmt::format("vec {} = {};", folded_, picked));
            else lines_.add(folded(picked));
        }
        store("j", "", "", false);
        lines_.add("};");
    }

    void narrow() {
        const WindowAxis& axis = last();
        lines_.add("const auto narrow = [&](int64_t j) {");
        lines_.add(fmt::format("const int64_t side = {};", start_of(axis, "j")));
        std::string count = axis.taps.cpp(), first = "side";
        if (axis.padded) {
            lines_.add(fmt::format("const Taps across = taps_inside(side, {}, {}, width);", axis.taps.cpp(),
                                   axis.dilation.cpp()));
            count = "across.count";
            first = fmt::format("side + {}", times(axis.dilation, "across.first"));
        }
        std::vector<size_t> axes = far_axes();
        axes.push_back(far());
        lines_.add(fmt::format("float {} = {};", folded_, start(axes)));
        const std::string offset = open_far_taps();
        lines_.add(fmt::format("for (int64_t k = 0; k < {}; ++k) {{", count));
        std::string at = fmt::format("{} + {}", first, times(axis.dilation, "k"));
        if (!offset.empty()) at = fmt::format("{} * width + {}", offset, at);
        lines_.add(folded(value_before(at, "", true)));
        lines_.add("}");
        close_far_taps();
        store("j", "", "", true);
        lines_.add("};");
    }

    // ---- windows folded where they lie, lanes along the axes behind them

    void inner_lanes() {
        open_team("rows * out_width");
        lines_.add("for (int64_t task = me.begin(rows * out_width); task < me.end(rows * out_width); ++task) {");
        lines_.add("const int64_t row = task / out_width, j = task % out_width;");
        open_row();
        const WindowAxis& axis = last();
        lines_.add(fmt::format("const int64_t side = {};", start_of(axis, "j")));
        if (axis.padded)
            lines_.add(fmt::format("const Taps across = taps_inside(side, {}, {}, width);", axis.taps.cpp(),
                                   axis.dilation.cpp()));
        std::vector<size_t> axes = far_axes();
        axes.push_back(far());
        open_counted("fold_window", axes);
        lines_.add("each_vector(0, inner, [&](int64_t c, int64_t lanes) __attribute__((always_inline)) {");
        lines_.add(fmt::format("vec {} = splat({});", folded_, start(axes)));
        const std::string offset = open_far_taps();
        lines_.add(fmt::format("for (int64_t k = 0; k < {}; ++k) {{", taps_count(far())));
        std::string at = axis.padded ? fmt::format("side + {}", times(axis.dilation, "(across.first + k)"))
                                     : fmt::format("side + {}", times(axis.dilation, "k"));
        at = offset.empty() ? fmt::format("({}) * inner + c", at)
                            : fmt::format("({} * width + {}) * inner + c", offset, at);
        lines_.add(folded(value_before(at, "lanes", false)));
        lines_.add("}");
        close_far_taps();
        store("j * inner + c", "c", "lanes", false);
        lines_.add("});");
        close_counted("fold_window", axes);
        lines_.add("}");
        lines_.add("});");
    }

    // ---- rows folded into scratch

    void folded_rows() {
        scratch_ = true;
        const WindowAxis& axis = last();
        const std::string inner = inner_factor(), before = axis.before.cpp();
        const bool shifted = !axis.padded && !axis.before.is_literal(0);  // windows that begin inside of the row
        const std::string lead = axis.padded ? factor(axis.before) : "0";
        lines_.add("// The elements that all windows of a row reach over, those beside the row among them.");
        lines_.add(fmt::format("const int64_t reach = {} + {};", times(axis.stride, "(out_width - 1)"),
                               ((axis.taps - 1) * axis.dilation + 1).cpp()));
        lines_.add(fmt::format("const int64_t span = reach < {0} + width ? {0} + width : reach;", lead));
        open_team("rows");
        const std::string slack = lanes_inside_ ? "VL" : fmt::format("{} * VL", factor(axis.stride));
        const bool doubled = plan_.kind == WindowPlan::Kind::doubled;
        lines_.add(fmt::format("float* const folded = scratch(span{} + {});", inner, slack));
        if (axis.padded && !doubled) fill_borders(lead, inner);
        lines_.add("for (int64_t row = me.begin(rows); row < me.end(rows); ++row) {");
        open_row();
        if (axis.padded && doubled) fill_borders(lead, inner);
        open_counted("fold_rows", far_axes());
        lines_.add(fmt::format(
            "each_vector(0, width{}, [&](int64_t j, int64_t lanes) __attribute__((always_inline)) {{", inner));
        rows_of_window(lead, inner);
        lines_.add("});");
        close_counted("fold_rows", far_axes());
        if (doubled) double_windows(inner);
        along_row(shifted ? Expression(0) - axis.before : Expression(0));
        lines_.add("}");
        lines_.add("});");
    }

    void fill_borders(const std::string& lead, const std::string& inner) {
        lines_.add(fmt::format("for (int64_t k = 0; k < {}{}; ++k) folded[k] = {};", lead, inner, beyond()));
        lines_.add(lanes_inside_
                       ? fmt::format("for (int64_t k = ({} + width) * inner; k < span * inner; ++k) folded[k] = {};",
                                     lead, beyond())
                       : fmt::format("for (int64_t k = {} + width; k < span; ++k) folded[k] = {};", lead, beyond()));
    }

    void rows_of_window(const std::string& lead, const std::string& inner) {
        const std::string place = lead == "0" ? "folded + j" : fmt::format("folded + {}{} + j", lead, inner);
        if (far() == 0) {
            const std::string value = value_before("j", "lanes", false);
            return lines_.add(fmt::format("store_part({}, {}, lanes);", place, value));
        }
        lines_.add(fmt::format("vec {} = splat({});", folded_, start(far_axes())));
        const std::string offset = open_far_taps();
        lines_.add(folded(value_before(fmt::format("{} * width{} + j", offset, inner), "lanes", false)));
        close_far_taps();
        lines_.add(fmt::format("store_part({}, {}, lanes);", place, folded_));
    }

    // folded[k] becomes the extremum of the `window` neighbours from k on.
    void double_windows(const std::string& inner) {
        const std::string step =
            lanes_inside_ ? times(last().dilation, "window") + " * inner" : times(last().dilation, "window");
        lines_.add("// folded[k] becomes the extremum of `window` neighbours, until two of these cover a window.");
        lines_.add("int64_t window = 1;");
        lines_.add(fmt::format("for (; 2 * window <= {}; window *= 2)", last().taps.cpp()));
        lines_.add(fmt::format("    for (int64_t k = 0; k + {} < span{}; k += VL)", step, inner));
        lines_.add(fmt::format("        store(folded + k, {});",
                               fold(form_.op, "load(folded + k)", fmt::format("load(folded + k + {})", step))));
    }

    // `places`: of windows along the scratch row, in taps.
    void along_row(const Expression& shift) {
        const WindowAxis& axis = last();
        const bool picked = axis.stride.is_literal() && value(axis.stride) <= widest_stride;
        if (lanes_inside_) {
            lines_.add("for (int64_t j = 0; j < out_width; ++j)");
            lines_.add("each_vector(0, inner, [&](int64_t c, int64_t lanes) __attribute__((always_inline)) {");
        } else {
            lines_.add("each_vector(0, out_width, [&](int64_t j, int64_t lanes) __attribute__((always_inline)) {");
            every_ = every_ || (picked && value(axis.stride) > 1);
            strided_ = strided_ || !picked;
            if (every_)
                lines_.add(
                    "const auto load_folded = [&](int64_t k) __attribute__((always_inline)) { return "
                    "load(folded + k); };");
        }
        const std::string start = times(axis.stride, "j");
        auto at = [&](const std::string& offset) {
            std::string place = start;
            if (!shift.is_literal(0)) place += " + " + factor(shift);
            if (!offset.empty()) place += " + " + offset;
            if (lanes_inside_) return fmt::format("load(folded + ({}) * inner + c)", place);
            if (!picked) return fmt::format("load_strided(folded + {}, {}, lanes)", place, axis.stride.cpp());
            return value(axis.stride) == 1 ? fmt::format("load(folded + {})", place)
                                           : fmt::format("every<{}>(load_folded, {}, 0)", value(axis.stride), place);
        };
        lines_.add(fmt::format("vec {} = {};", folded_, at("")));
        if (plan_.kind == WindowPlan::Kind::doubled) {
            lines_.add(folded(at(times(axis.dilation, fmt::format("({} - window)", axis.taps.cpp())))));
        } else if (axis.taps.is_literal() && axis.dilation.is_literal() && value(axis.taps) <= most_spelled) {
            for (int64_t t = 1; t < value(axis.taps); ++t)
                lines_.add(folded(at(std::to_string(t * value(axis.dilation)))));
        } else {
            lines_.add(fmt::format("for (int64_t t = 1; t < {}; ++t) {}", axis.taps.cpp(),
                                   folded(at(times(axis.dilation, "t")))));
        }
        store(lanes_inside_ ? "j * inner + c" : "j", "c", "lanes", false);
        lines_.add("});");
    }

    const WindowForm& form_;
    const WindowPlan plan_;
    std::vector<AxisNames> names_;
    bool lanes_inside_ = false, clipped_ = false, strided_ = false, scratch_ = false, every_ = false;
    std::string folded_, lacks_;
    std::set<std::string> used_, declared_;
    Lines lines_;
};

}  // namespace

KernelParts write_windows(const WindowForm& form, const WindowPlan& plan) { return Writer(form, plan).write(); }

bool has_direct_windows(const WindowForm& form) {
    if (!form.inner.is_literal(1)) return true;
    const WindowAxis& last = form.axes.back();
    if (!last.stride.is_literal() || !last.taps.is_literal() || !last.dilation.is_literal() ||
        !last.before.is_literal())
        return false;
    return last.stride.evaluate_integer({}) <= widest_stride && last.taps.evaluate_integer({}) <= 2 * most_spelled;
}

}  // namespace strop::playbook
