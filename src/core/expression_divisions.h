// Where Expression::cpp() means what text() means.
#pragma once

#include <utility>
#include <vector>

#include "core/expression.h"

namespace strop {

// The operands of every `//`, `%` and ceildiv, inner ones first. C++ floors as Python does where the left one is >= 0
// and the right one > 0.
std::vector<std::pair<Expression, Expression>> divisions_in(const Expression& expression);

}  // namespace strop
