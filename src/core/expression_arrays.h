// Expressions over arrays of numbers.
#pragma once

#include <string>

#include "core/expression.h"

namespace strop {

// Python over arrays (NumPy, Triton), whose truth values are joined by `&` and `|`. Operands of `//` and `%`
// are non-negative.
std::string over_arrays(const Expression& expression);

}  // namespace strop
