#include "playbook/step_axes.h"

#include <algorithm>
#include <cstdlib>

#include "playbook/plain_value.h"

namespace strop::playbook {

std::optional<std::optional<size_t>> row_axis(const Shape& shape) {
    std::optional<size_t> found;
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
        if (shape[axis].is_literal(1)) continue;
        if (found) return {};
        found = axis;
    }
    return std::optional<std::optional<size_t>>(found);
}

Node moved_with_step(Node slice, const std::vector<int64_t>& move, const Expression& step, int64_t body_step) {
    for (size_t axis = 0; axis < move.size(); ++axis) {
        if (move[axis] == 0) continue;
        const Expression first = slice.begin[axis] - Expression(move[axis] * body_step);
        const Expression by = move[axis] == 1 || move[axis] == -1 ? step : Expression(std::abs(move[axis])) * step;
        const Expression length = slice.end[axis] - slice.begin[axis];
        slice.begin[axis] = move[axis] < 0 ? first - by : first.is_literal(0) ? by : by + first;
        slice.end[axis] = slice.begin[axis] + length;
    }
    return slice;
}

StepAxes::StepAxes(const Shape& shape, const Expression& rows, const Expression& steps)
    : rows_(rows),
      columns_(shape.back()),
      steps_(steps),
      axes_(shape.size()) {
    if (const auto axis = row_axis(shape); axis && *axis) axes_[**axis] = {Count::rows};
    axes_.back() = {Count::columns};
}

bool StepAxes::see_through(const Node& view) {
    std::vector<std::vector<Count>> seen;
    if (view.op == "transpose") {
        for (int axis : view.axes) seen.push_back(axes_[static_cast<size_t>(axis)]);
        axes_ = std::move(seen);
        return true;
    }
    if (view.op != "reshape") return false;
    const std::vector<Count> counts = all();
    size_t next = 0;
    for (const Expression& wanted : view.shape) {
        seen.emplace_back();
        Expression product = 1;
        while (next < counts.size() && !same_value(product, wanted)) {
            product = product * extent(counts[next]);
            seen.back().push_back(counts[next++]);
        }
        if (!same_value(product, wanted)) return false;
    }
    for (; next < counts.size(); ++next) {
        if (!extent(counts[next]).is_literal(1)) return false;
        seen.back().push_back(counts[next]);
    }
    axes_ = std::move(seen);
    return true;
}

void StepAxes::join(size_t axis) { axes_[axis].insert(axes_[axis].begin(), Count::steps); }

void StepAxes::stack() { axes_.insert(axes_.begin(), {Count::steps}); }

bool StepAxes::counts_steps(size_t axis) const { return axes_[axis] == std::vector<Count>{Count::steps}; }

bool StepAxes::is_row_major() const {
    std::vector<Count> counts = all();
    std::erase(counts, Count::steps);
    return std::is_sorted(counts.begin(), counts.end());
}

std::string StepAxes::place(const std::string& row, const std::string& step) const {
    Term offset{"0", 0, true};
    for (Count count : all()) {
        Term at{"j", 0, true};
        if (count == Count::rows) at = {row, 0, false};
        if (count == Count::steps) at = {step, 0, step.find(' ') == std::string::npos};
        offset = plus(times(offset, extent_term(extent(count))), at);
    }
    return offset.text;
}

std::vector<StepAxes::Count> StepAxes::all() const {
    std::vector<Count> result;
    for (const std::vector<Count>& axis : axes_) result.insert(result.end(), axis.begin(), axis.end());
    return result;
}

Expression StepAxes::extent(Count count) const {
    return count == Count::rows ? rows_ : count == Count::columns ? columns_ : steps_;
}

}  // namespace strop::playbook
