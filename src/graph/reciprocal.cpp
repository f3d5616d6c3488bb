#include "graph/reciprocal.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace strop {

namespace {

constexpr double least_constant = 1e-30;

bool is_nonnegative(const NodeAt& at, int id) {
    const Node& node = at(id);
    auto all = [&] {
        return std::all_of(node.operands.begin(), node.operands.end(),
                           [&](int operand) { return is_nonnegative(at, operand); });
    };
    if (node.family == Family::constant) return node.dim.has_value() || node.value >= 0;
    if (node.family == Family::reduction) return !node.op.starts_with("arg") && all();
    if (node.family == Family::layout) return node.op != "pad" && all();
    if (node.family != Family::pointwise) return false;
    static const std::set<std::string> always = {"square", "absolute", "exp", "exp2", "sqrt", "rsqrt", "sigmoid"};
    static const std::set<std::string> as_operands = {"add",     "multiply",   "divide", "maximum",
                                                      "minimum", "reciprocal", "cast"};
    if (node.op == "maximum")
        return std::any_of(node.operands.begin(), node.operands.end(),
                           [&](int operand) { return is_nonnegative(at, operand); });
    return always.contains(node.op) || (as_operands.contains(node.op) && all());
}

bool is_large_constant(const Node& node) {
    return node.family == Family::constant && (node.dim || std::fabs(node.value) >= least_constant);
}

const Node& without_layout(const NodeAt& at, int id) {
    const Node* node = &at(id);
    while (node->family == Family::layout || (node->family == Family::pointwise && node->op == "cast"))
        node = &at(node->operands[0]);
    return *node;
}

// exp(x - max(x)), of which some element is 1.
bool reaches_one(const NodeAt& at, int id) {
    const Node& power = without_layout(at, id);
    if (power.op != "exp" && power.op != "exp2") return false;
    const Node& exponent = without_layout(at, power.operands[0]);
    if (exponent.op != "subtract") return false;
    const Node& most = without_layout(at, exponent.operands[1]);
    return most.family == Family::reduction && most.op == "max" &&
           without_layout(at, most.operands[0]).id == without_layout(at, exponent.operands[0]).id;
}

}  // namespace

bool has_finite_reciprocal(const NodeAt& at, int id) {
    const Node& node = at(id);
    auto known = [&](size_t operand) { return has_finite_reciprocal(at, node.operands[operand]); };
    auto nonnegative = [&](size_t operand) { return is_nonnegative(at, node.operands[operand]); };
    if (node.family == Family::parameter || is_large_constant(node)) return true;
    if (node.family == Family::layout) return node.op != "pad" && known(0);
    if (node.family == Family::reduction && node.op == "sum")
        return reaches_one(at, node.operands[0]) || (known(0) && nonnegative(0));
    if (node.family == Family::reduction && (node.op == "max" || node.op == "min")) return known(0);
    if (node.family != Family::pointwise) return false;
    if (node.op == "sqrt") return true;  // of the least number it is 4e-23
    if (node.op == "cast" || node.op == "absolute" || node.op == "negative") return known(0);
    if (node.op == "add")
        return (known(0) && nonnegative(0) && nonnegative(1)) || (known(1) && nonnegative(0) && nonnegative(1));
    if (node.op == "maximum")
        return (known(0) && nonnegative(0)) || (known(1) && nonnegative(1)) || (known(0) && known(1));
    if (node.op == "minimum") return known(0) && known(1);
    if (node.op == "multiply")  // by a number of the usual kind
        return (known(0) && is_large_constant(at(node.operands[1]))) ||
               (known(1) && is_large_constant(at(node.operands[0])));
    return false;
}

SmallDivisors small_divisors(DType dtype) {
    return dtype == DType::float64 ? SmallDivisors{0x1p-960, 0x1p512} : SmallDivisors{0x1p-100, 0x1p64};
}

}  // namespace strop
