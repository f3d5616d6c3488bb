#include "core/expression_program.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "core/expression_node.h"
#include "core/whole_arithmetic.h"

namespace strop {

namespace {

using Kind = Expression::Node::Kind;

bool holds(const std::string& comparison, int64_t a, int64_t b) {
    if (comparison == "<") return a < b;
    if (comparison == "<=") return a <= b;
    if (comparison == ">") return a > b;
    if (comparison == ">=") return a >= b;
    return (a == b) == (comparison == "==");
}

}  // namespace

std::optional<ExpressionProgram> ExpressionProgram::of(const Expression& expression,
                                                       const std::function<int(const std::string&)>& place_of) {
    ExpressionProgram program;
    if (!program.add(expression, place_of)) return std::nullopt;
    return program;
}

std::optional<size_t> ExpressionProgram::add(const Expression& expression,
                                             const std::function<int(const std::string&)>& place_of) {
    static const std::map<std::string, Operation> operations = {
        {"+", Operation::add},           {"-", Operation::subtract},         {"*", Operation::multiply},
        {"//", Operation::floor_divide}, {"%", Operation::remainder},        {"or", Operation::either},
        {"and", Operation::both},        {"min", Operation::least},          {"max", Operation::most},
        {"abs", Operation::absolute},    {"ceildiv", Operation::ceil_divide}};
    const Expression::Node& node = expression.node();
    Step step{Operation::number};
    switch (node.kind) {
        case Kind::number:
            if (!std::holds_alternative<int64_t>(node.value)) return std::nullopt;
            step.number = std::get<int64_t>(node.value);
            break;
        case Kind::symbol:
            step = {Operation::symbol, place_of(node.name), node.name};
            if (step.number < 0) return std::nullopt;
            break;
        case Kind::unary: step.operation = node.name == "not" ? Operation::invert : Operation::negate; break;
        case Kind::binary:
        case Kind::call: {
            const auto found = operations.find(node.name);
            if (found == operations.end()) return std::nullopt;
            step.operation = found->second;
            break;
        }
        case Kind::compare:
            step.operation = Operation::compare;
            step.comparisons = node.comparisons;
            break;
        default: return std::nullopt;
    }
    for (const Expression& argument : node.arguments) {
        const std::optional<size_t> operand = add(argument, place_of);  // nullopt: a list, behind 'in'
        if (!operand) return std::nullopt;
        step.operands.push_back(*operand);
    }
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
}

int64_t ExpressionProgram::run(const std::vector<int64_t>& numbers, const std::vector<char>& known) const {
    return value(steps_.size() - 1, numbers, known);
}

int64_t ExpressionProgram::value(size_t at, const std::vector<int64_t>& numbers, const std::vector<char>& known) const {
    const Step& step = steps_[at];
    const auto operand = [&](size_t k) { return value(step.operands[k], numbers, known); };
    switch (step.operation) {
        case Operation::number: return step.number;
        case Operation::symbol:
            if (!known[static_cast<size_t>(step.number)])
                throw UsageError(fmt::format("'{}' is not defined", step.text));
            return numbers[static_cast<size_t>(step.number)];
        case Operation::negate: return whole_difference(0, operand(0));
        case Operation::invert: return operand(0) == 0;
        case Operation::add: return whole_sum(operand(0), operand(1));
        case Operation::subtract: return whole_difference(operand(0), operand(1));
        case Operation::multiply: return whole_product(operand(0), operand(1));
        case Operation::floor_divide: return whole_quotient(operand(0), operand(1));
        case Operation::remainder: return whole_remainder(operand(0), operand(1));
        case Operation::ceil_divide:
            return whole_difference(0, whole_quotient(whole_difference(0, operand(0)), operand(1)));
        case Operation::absolute: return std::max(operand(0), whole_difference(0, operand(0)));
        case Operation::either:
            if (const int64_t left = operand(0)) return left;
            return operand(1);
        case Operation::both:
            if (const int64_t left = operand(0); left == 0) return left;
            return operand(1);
        case Operation::compare: {
            int64_t left = operand(0);
            for (size_t k = 0; k < step.comparisons.size(); ++k) {
                const int64_t right = operand(k + 1);
                if (!holds(step.comparisons[k], left, right)) return 0;
                left = right;
            }
            return 1;
        }
        default: break;
    }
    int64_t best = operand(0);  // the least or the most of them
    for (size_t k = 1; k < step.operands.size(); ++k)
        best = step.operation == Operation::least ? std::min(best, operand(k)) : std::max(best, operand(k));
    return best;
}

}  // namespace strop
