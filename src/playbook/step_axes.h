// What the axes of a recurrence's values count, seen through the views and the concatenation that put them into an
// output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/rewrite.h"

namespace strop::playbook {

// The axis before the last that is longer than 1; none: the shape has one row only. Two of them: nothing.
std::optional<std::optional<size_t>> row_axis(const Shape& shape);

// A slice as each step takes it: `slice` is that of the step `body_step`, and begins `move` later with each further
// one.
Node moved_with_step(Node slice, const std::vector<int64_t>& move, const Expression& step, int64_t body_step);

class StepAxes {
public:
    // Of one step's value.
    StepAxes(const Shape& shape, const Expression& rows, const Expression& steps);

    // False where the view cuts an axis apart or leaves something out.
    bool see_through(const Node& view);
    // The values of all steps, side by side along this axis.
    void join(size_t axis);
    // The values of all steps, along a new first axis.
    void stack();
    // There is more along the axis of the steps than what they make: so many in all.
    void lengthen(const Expression& steps) { steps_ = steps; }
    bool counts_steps(size_t axis) const;
    // Whether rows and columns stand in their order, wherever the steps are.
    bool is_row_major() const;
    // The place of an element in row-major memory, as C++ text: at this row and step, and column j.
    std::string place(const std::string& row, const std::string& step) const;

private:
    enum class Count { steps, rows, columns };

    std::vector<Count> all() const;
    Expression extent(Count count) const;

    Expression rows_, columns_, steps_;
    std::vector<std::vector<Count>> axes_;  // each counts several of them, row-major, or nothing
};

}  // namespace strop::playbook
