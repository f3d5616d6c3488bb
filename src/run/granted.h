// What a traced graph takes for granted of the sizes, as conditions of its problem.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"

namespace strop {

// Adds those that the problem's declared ranges do not promise, so that other shapes are refused. A note for the user;
// empty where none was added.
std::string take_for_granted(const std::vector<Expression>& conditions, Problem& problem);

}  // namespace strop
