// Loops over one axis of a value (a search, a scan), with those before it as rows and those behind it as
// columns, and the elements that pointwise operations read there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "playbook/pointwise_part.h"

namespace strop::playbook {

struct AxisNest {
    std::vector<Expression> outer;  // rows
    Expression depth, columns = 1;
    size_t axis = 0;

    bool has_columns() const { return !columns.is_literal(1); }
};
AxisNest axis_nest(const std::vector<Expression>& shape, int axis);

// Names that kernels of such nests use themselves.
const std::set<std::string>& axis_kernel_names();

// Why a part's operands cannot be read in the nest's loops; empty when they can.
std::string unreadable(const AxisNest& nest, const PointwisePart& part);

// Text that reads what parts need at (row, i, j). Lanes run along the columns where the nest has some, else
// along its depth.
class AxisReader {
public:
    AxisReader(const Graph& graph, const AxisNest& nest) : graph_(graph), nest_(nest) {}

    // Once a row: values that are the same for all of it, of all parts that its loops read.
    void open_row(const std::vector<const PointwisePart*>& parts, Lines& lines) const;
    // The value of a part, after the statements that it needs. `i`, `j`: places along depth and columns;
    // `lanes`:
    // "" for whole vectors. `known`: values that are there already.
    std::string value(const PointwisePart& part, const std::string& i, const std::string& j, const std::string& lanes,
                      std::map<int, std::string> known, Lines& lines);
    // "(row * depth + i) * columns + j"
    std::string place(const std::string& i, const std::string& j) const;

    std::set<std::string> used;  // of vector_prelude
    std::string lacks;

private:
    std::string slice(const PartOperand& operand) const;
    bool along(const PartOperand& operand) const { return operand.spans[nest_.axis]; }
    bool inner(const PartOperand& operand) const;
    bool once_a_row(const PartOperand& operand) const { return !along(operand) && !inner(operand); }

    const Graph& graph_;
    const AxisNest& nest_;
};

}  // namespace strop::playbook
