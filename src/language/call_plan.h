// How a caller's tensors tell the dimensions: what the Python module and its binding read, and what they ask
// for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"

namespace strop {

// extent = factor * dimension + rest
struct Inverse {
    int64_t factor = 1;
    Expression rest;
};

// A dimension, from the extent of an input. The inverse, of an extent that is not the dimension by itself,
// uses dimensions of earlier readings and parameters only.
struct Reading {
    std::string dimension;
    size_t input = 0, axis = 0;
    std::optional<Inverse> inverse;
};

struct CallPlan {
    std::vector<Reading> readings;   // plain ones first
    std::vector<std::string> asked;  // dimensions that no input tells

    // Null where an extent is not a dimension that is read there.
    const Reading* plain_at(size_t input, size_t axis) const;
};
CallPlan plan_call(const Problem& problem);

bool is_dimension(const Problem& problem, const std::string& name);

}  // namespace strop
