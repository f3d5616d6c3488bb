// Values by which something is decided: they are rounded to whole numbers, compared, taken as a place. There a last
// digit matters: x / 7 is a whole number where x * (1 / 7) is not. So what leads to them is computed as it is written.
#pragma once

#include <set>

#include "graph/graph.h"

namespace strop {

// Sets `exact` of the pointwise nodes from which such a value comes by operations that IEEE 754 rounds correctly
// (+ - * / and square roots, and what rounds nothing). Sums over axes and exponentials lead to none: their last digits
// are nobody's. Of loops each body is looked at by itself.
void mark_decisions(Graph& graph);

// A quotient by it is exact, but for what is nearly too large or too small.
bool is_power_of_two(double value);

// The products that must be rounded before they are added: no multiply-add.
std::set<int> rounded_products(const Graph& graph);

}  // namespace strop
