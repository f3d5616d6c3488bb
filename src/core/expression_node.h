// The tree behind an Expression; for expression*.cpp only.
#pragma once

#include "core/expression.h"

namespace strop {

struct Expression::Node {
    enum class Kind { number, symbol, text, unary, binary, call, compare, tuple };
    Kind kind;
    Value value;       // number, text
    std::string name;  // symbol, operator or function
    std::vector<Expression> arguments;
    std::vector<std::string> comparisons;  // compare: one fewer than arguments
};

}  // namespace strop
