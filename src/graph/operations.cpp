#include "graph/operations.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace strop {

namespace {

using Result = Operation::Result;

// One formula serves both precisions.
template <class Formula>
Operation unary(const char* name, double cost, Formula) {
    return {name,
            Family::pointwise,
            1,
            Result::operand,
            false,
            true,
            cost,
            [](const double* v) { return static_cast<double>(Formula{}(v[0])); },
            [](const float* v) { return static_cast<float>(Formula{}(v[0])); }};
}

template <class Formula>
Operation binary(const char* name, double cost, bool commutative, Formula) {
    return {name,
            Family::pointwise,
            2,
            Result::operand,
            commutative,
            true,
            cost,
            [](const double* v) { return static_cast<double>(Formula{}(v[0], v[1])); },
            [](const float* v) { return static_cast<float>(Formula{}(v[0], v[1])); }};
}

// Of truth values: NaN is a number like any other here.
Operation truth(Operation operation) {
    operation.result = Result::truth;
    operation.passes_nan = false;
    return operation;
}

template <class Formula>
Operation fold(Family family, const char* name, double start, Formula formula) {
    Operation operation = binary(name, 1, true, formula);
    operation.family = family;
    operation.arity = 1;
    operation.start = start;
    return operation;
}

constexpr auto larger = [](auto a, auto b) { return std::isnan(a) || a > b ? a : b; };
constexpr auto smaller = [](auto a, auto b) { return std::isnan(a) || a < b ? a : b; };
constexpr auto sum = [](auto a, auto b) { return a + b; };
constexpr auto product = [](auto a, auto b) { return a * b; };
constexpr auto both = [](auto a, auto b) { return a != 0 && b != 0; };
constexpr auto either = [](auto a, auto b) { return a != 0 || b != 0; };
constexpr double infinity = std::numeric_limits<double>::infinity();

// With the divisor's sign, as in Python.
constexpr auto remainder_of = [](auto a, auto b) {
    auto rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
};

// Rounded down, as in Python: 1 // 0.1 is 9, because 0.1 is a little more than a tenth.
constexpr auto quotient_of = [](auto a, auto b) {
    if (b == 0) return a / b;
    const auto rest = remainder_of(a, b);
    return std::isinf(b) ? (rest == b ? -1 : 0 * rest) : std::nearbyint((a - rest) / b);
};

// Of whole numbers; a double holds those of 53 bits.
template <class Formula>
Operation bits(const char* name, bool commutative, Formula) {
    constexpr auto formula = [](auto a, auto b) {
        if (std::isnan(a) || std::isnan(b)) return a + b;
        return static_cast<decltype(a)>(Formula{}(static_cast<int64_t>(a), static_cast<int64_t>(b)));
    };
    return binary(name, 1, commutative, formula);
}

// By more bits than there are, nothing is left, as in NumPy.
constexpr auto shifted_left = [](int64_t a, int64_t by) {
    return by < 0 || by > 63 ? int64_t{0} : static_cast<int64_t>(static_cast<uint64_t>(a) << by);
};
constexpr auto shifted_right = [](int64_t a, int64_t by) { return a >> (by < 0 || by > 63 ? 63 : by); };

std::vector<Operation> one_operand() {
    return {
        unary("negative", 1, [](auto x) { return -x; }),
        unary("absolute", 1, [](auto x) { return std::fabs(x); }),
        unary("exp", 12, [](auto x) { return std::exp(x); }),
        unary("exp2", 12, [](auto x) { return std::exp2(x); }),
        unary("expm1", 16, [](auto x) { return std::expm1(x); }),
        unary("log", 16, [](auto x) { return std::log(x); }),
        unary("log2", 16, [](auto x) { return std::log2(x); }),
        unary("log1p", 18, [](auto x) { return std::log1p(x); }),
        unary("sqrt", 6, [](auto x) { return std::sqrt(x); }),
        unary("rsqrt", 10, [](auto x) { return 1 / std::sqrt(x); }),
        unary("square", 1, [](auto x) { return x * x; }),
        unary("reciprocal", 5, [](auto x) { return 1 / x; }),
        unary("tanh", 18, [](auto x) { return std::tanh(x); }),
        unary("erf", 24, [](auto x) { return std::erf(x); }),
        unary("sin", 20, [](auto x) { return std::sin(x); }),
        unary("cos", 20, [](auto x) { return std::cos(x); }),
        unary("atan", 24, [](auto x) { return std::atan(x); }),
        unary("lgamma", 60, [](auto x) { return std::lgamma(x); }),
        unary("sigmoid", 18, [](auto x) { return 1 / (1 + std::exp(-x)); }),
        unary("floor", 1, [](auto x) { return std::floor(x); }),
        unary("ceil", 1, [](auto x) { return std::ceil(x); }),
        unary("round", 1, [](auto x) { return std::nearbyint(x); }),
        unary("sign", 2, [](auto x) { return std::isnan(x) ? x : decltype(x)((x > 0) - (x < 0)); }),
        truth(unary("isnan", 1, [](auto x) { return std::isnan(x); })),
        truth(unary("logical_not", 1, [](auto x) { return x == 0; })),
        {"cast", Family::pointwise, 1, Result::chosen},
    };
}

std::vector<Operation> several_operands() {
    std::vector<Operation> table = {
        binary("add", 1, true, sum),
        binary("subtract", 1, false, [](auto a, auto b) { return a - b; }),
        binary("multiply", 1, true, product),
        binary("divide", 5, false, [](auto a, auto b) { return a / b; }),
        binary("power", 40, false, [](auto a, auto b) { return std::pow(a, b); }),
        binary("maximum", 2, true, larger),
        binary("minimum", 2, true, smaller),
        binary("floor_divide", 6, false, quotient_of),
        binary("remainder", 8, false, remainder_of),
        bits("bitwise_and", true, [](int64_t a, int64_t b) { return a & b; }),
        bits("bitwise_or", true, [](int64_t a, int64_t b) { return a | b; }),
        bits("bitwise_xor", true, [](int64_t a, int64_t b) { return a ^ b; }),
        bits("left_shift", false, shifted_left),
        bits("right_shift", false, shifted_right),
        truth(binary("less", 1, false, [](auto a, auto b) { return a < b; })),
        truth(binary("less_equal", 1, false, [](auto a, auto b) { return a <= b; })),
        truth(binary("greater", 1, false, [](auto a, auto b) { return a > b; })),
        truth(binary("greater_equal", 1, false, [](auto a, auto b) { return a >= b; })),
        truth(binary("equal", 1, true, [](auto a, auto b) { return a == b; })),
        truth(binary("not_equal", 1, true, [](auto a, auto b) { return a != b; })),
        truth(binary("logical_and", 1, true, both)),
        truth(binary("logical_or", 1, true, either)),
    };
    Operation where = {"where", Family::pointwise, 3, Result::operand};
    where.passes_nan = false;
    where.in_double = [](const double* v) { return v[0] != 0 ? v[1] : v[2]; };
    where.in_float = [](const float* v) { return v[0] != 0 ? v[1] : v[2]; };
    table.push_back(where);
    return table;
}

std::vector<Operation> folds() {
    std::vector<Operation> table;
    for (Family family : {Family::reduction, Family::scan}) {
        table.push_back(fold(family, "sum", 0, sum));
        table.push_back(fold(family, "prod", 1, product));
        table.push_back(fold(family, "max", -infinity, larger));
        table.push_back(fold(family, "min", infinity, smaller));
    }
    table.push_back(truth(fold(Family::reduction, "any", 0, either)));
    table.push_back(truth(fold(Family::reduction, "all", 1, both)));
    table.push_back({"argmax", Family::reduction, 1, Result::index, false, false, 2});
    table.push_back({"argmin", Family::reduction, 1, Result::index, false, false, 2});
    return table;
}

std::vector<Operation> make_table() {
    std::vector<Operation> table = one_operand();
    for (auto* more : {several_operands, folds})
        for (Operation& operation : more()) table.push_back(operation);
    return table;
}

}  // namespace

std::span<const Operation> operations() {
    static const std::vector<Operation> table = make_table();
    return table;
}

const Operation* find_operation(Family family, const std::string& name) {
    static const std::map<std::pair<Family, std::string>, const Operation*> index = [] {
        std::map<std::pair<Family, std::string>, const Operation*> made;
        for (const Operation& operation : operations()) made[{operation.family, operation.name}] = &operation;
        return made;
    }();
    auto found = index.find({family, name});
    return found == index.end() ? nullptr : found->second;
}

bool exceeds_its_type(const std::string& operation, DType dtype) {
    static const std::set<std::string> can = {"add", "subtract", "multiply", "negative", "absolute", "square"};
    return (dtype == DType::int8 || dtype == DType::uint8) && can.contains(operation);
}

std::string word_for(const std::string& op) {
    static const std::map<std::string, std::string> words = {
        {"exp", "exponential"},     {"exp_nonpositive", "exponential"},
        {"exp2", "exponential"},    {"expm1", "exponential"},
        {"log", "logarithm"},       {"log2", "logarithm"},
        {"log1p", "logarithm"},     {"sqrt", "root"},
        {"rsqrt", "inverse_root"},  {"square", "squared"},
        {"reciprocal", "inverse"},  {"absolute", "magnitude"},
        {"negative", "negated"},    {"add", "total"},
        {"subtract", "difference"}, {"multiply", "scaled"},
        {"divide", "quotient"},     {"maximum", "larger"},
        {"minimum", "smaller"},     {"where", "chosen"},
        {"power", "raised"},        {"tanh", "hyperbolic"},
        {"atan", "angle"},          {"lgamma", "log_gamma"},
        {"bitwise_and", "masked"},  {"left_shift", "shifted"},
        {"right_shift", "shifted"}, {"sigmoid", "gate"},
        {"floor", "whole"},         {"cast", "converted"}};
    std::map<std::string, std::string>::const_iterator found = words.find(op);
    return found == words.end() ? op + "_value" : found->second;
}

}  // namespace strop
