#include "playbook/axis_nest.h"

#include <algorithm>

#include <fmt/format.h>

namespace strop::playbook {

AxisNest axis_nest(const std::vector<Expression>& shape, int axis) {
    AxisNest nest;
    nest.axis = static_cast<size_t>(axis);
    const auto at = shape.begin() + axis;
    nest.outer.assign(shape.begin(), at);
    nest.depth = *at;
    nest.columns = product({at + 1, shape.end()});
    return nest;
}

const std::set<std::string>& axis_kernel_names() {
    static const std::set<std::string> names = {"rows",
                                                "depth",
                                                "columns",
                                                "row",
                                                "i",
                                                "j",
                                                "k",
                                                "r",
                                                "u",
                                                "t",
                                                "lanes",
                                                "begin",
                                                "end",
                                                "left",
                                                "right",
                                                "top",
                                                "bottom",
                                                "panels",
                                                "tiles",
                                                "task",
                                                "wide",
                                                "tile",
                                                "best",
                                                "place",
                                                "value",
                                                "better",
                                                "beats",
                                                "step",
                                                "carry",
                                                "running",
                                                "prefix",
                                                "scanned",
                                                "part",
                                                "parts",
                                                "from",
                                                "to",
                                                "vec",
                                                "vmask",
                                                "load",
                                                "store",
                                                "splat",
                                                "select",
                                                "vmax",
                                                "vmin",
                                                "maximum",
                                                "minimum",
                                                "sum",
                                                "VL",
                                                "TILE",
                                                "PANEL",
                                                "BLOCK",
                                                "ROWS",
                                                "UNROLL",
                                                "PARALLEL_MIN",
                                                "threads",
                                                "me",
                                                "scratch",
                                                "team",
                                                "load_part",
                                                "store_part",
                                                "load_tail",
                                                "store_tail",
                                                "store_places",
                                                "main",
                                                "float",
                                                "int",
                                                "double",
                                                "bool",
                                                "auto",
                                                "const",
                                                "for",
                                                "if",
                                                "new",
                                                "delete",
                                                "vexp",
                                                "vlog",
                                                "vabs",
                                                "fma",
                                                "first",
                                                "each_vector",
                                                "lane",
                                                "large",
                                                "panel_of",
                                                "block",
                                                "chosen_place",
                                                "all",
                                                "rotate",
                                                "shifted",
                                                "last",
                                                "count",
                                                "places",
                                                "each_row_group",
                                                "own",
                                                "group"};
    return names;
}

std::string unreadable(const AxisNest& nest, const PointwisePart& part) {
    for (const PartOperand& operand : part.operands) {
        size_t columns = 0;
        for (size_t axis = nest.axis + 1; axis < operand.spans.size(); ++axis) columns += operand.spans[axis];
        if (columns != 0 && columns + nest.axis + 1 != operand.spans.size())
            return fmt::format("operand '{}' that varies along some of the axes behind", operand.name);
    }
    return {};
}

std::string AxisReader::slice(const PartOperand& operand) const {
    std::set<size_t> members;
    std::vector<Expression> extents;
    for (size_t axis = 0; axis < nest_.outer.size(); ++axis) {
        if (nest_.outer[axis].is_literal(1)) continue;
        if (operand.spans[axis]) members.insert(extents.size());
        extents.push_back(nest_.outer[axis]);
    }
    return slice_index(extents, members, "row");
}

bool AxisReader::inner(const PartOperand& operand) const {
    return std::find(operand.spans.begin() + static_cast<std::ptrdiff_t>(nest_.axis) + 1, operand.spans.end(), true) !=
           operand.spans.end();
}

void AxisReader::open_row(const std::vector<const PointwisePart*>& parts, Lines& lines) const {
    std::set<std::string> declared;
    for (const PointwisePart* part : parts)
        for (const PartOperand& operand : part->operands)
            if (once_a_row(operand) && declared.insert(operand.name).second)
                lines.add(fmt::format("const float {0}_value = {0}[{1}];", operand.name, slice(operand)));
}

std::string AxisReader::place(const std::string& i, const std::string& j) const {
    const std::string at = fmt::format("row * depth + {}", i);
    return nest_.has_columns() ? fmt::format("({}) * columns + {}", at, j) : at;
}

std::string AxisReader::value(const PointwisePart& part, const std::string& i, const std::string& j,
                              const std::string& lanes, std::map<int, std::string> known, Lines& lines) {
    std::set<int> uniform;
    auto load = [&](const std::string& address) {
        return lanes.empty() ? fmt::format("load({})", address) : fmt::format("load_part({}, {})", address, lanes);
    };
    for (const PartOperand& operand : part.operands) {
        if (once_a_row(operand)) {
            known[operand.node] = operand.name + "_value";
            uniform.insert(operand.node);
            continue;
        }
        std::string at = slice(operand);
        if (along(operand)) at = at == "0" ? i : fmt::format("{} * depth + {}", at, i);
        const bool scalar = nest_.has_columns() && !inner(operand);
        if (nest_.has_columns() && inner(operand))
            at = at == "0" ? j : fmt::format("{} * columns + {}", at == i && along(operand) ? at : "(" + at + ")", j);
        known[operand.node] = operand.name + "_j";
        if (scalar) uniform.insert(operand.node);
        const std::string read = scalar ? fmt::format("{}[{}]", operand.name, at) : load(operand.name + " + " + at);
        if (part.root == operand.node && !scalar) return read;  // nothing is computed
        lines.add(fmt::format("const {} {}_j = {};", scalar ? "float" : "vec", operand.name, read));
    }
    PartValue result = part_value(graph_, part, known, uniform, false);
    lines.add(result.statements);
    used.merge(result.helpers);
    if (lacks.empty()) lacks = result.lacks;
    return result.result;
}

}  // namespace strop::playbook
