// A scalar at one position, as a node of a small graph in a launch.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/expression.h"
#include "core/problem.h"

namespace strop::schedule {

struct Term {
    enum class Kind {
        number,     // `value`
        index,      // `at[0]` as a number: a position, an extent
        parameter,  // the scalar parameter `name`
        load,       // an element of the tensor `name`, at `at`: one expression per axis, or the place in all of
                    // its memory
        result,     // of an earlier step, by its `name`
        pointwise,  // the operation `name` (graph/operations.h) of the operands
        guarded,    // operands[0] where `at[0]` holds, else operands[1]; the other is not evaluated
    };
    Kind kind = Kind::number;
    DType dtype = DType::float32;
    double value = 0;
    std::string name;
    std::vector<Expression> at;  // over axes, dimensions, integer parameters, and places (below)
    std::vector<int> operands;
    std::string place;  // non-empty: an integer that expressions of later terms read by this name
};

// Terms that `term` needs, itself included, in order. Places that its expressions read count.
std::vector<int> cone(const std::vector<Term>& terms, int term);

// Symbols of all expressions and names of all results that these terms read.
std::set<std::string> reads(const std::vector<Term>& terms, const std::vector<int>& wanted);

}  // namespace strop::schedule
