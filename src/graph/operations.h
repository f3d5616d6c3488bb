// What every operation of a graph means: one table for the reader, the simplifier, the interpreter, the
// emitters and the cost model.
#pragma once

#include <span>
#include <string>

#include "graph/graph.h"

namespace strop {

struct Operation {
    // The type of the result.
    enum class Result {
        operand,  // that of the (last) operand
        truth,    // bool
        index,    // int64
        chosen,   // the node says it: a cast
    };

    const char* name;
    Family family;  // pointwise; reduction and scan share their folds and have a row each
    int arity;      // operands of a pointwise operation; a fold has 1
    Result result = Result::operand;
    bool commutative = false;
    bool passes_nan = true;  // a NaN among the operands makes the result NaN
    double cost = 1;         // of one element, in additions, on a CPU's vector unit

    // The value from `arity` operands; a fold takes what was folded so far and the next element. Absent for
    // the casts and the reductions that answer with a position.
    double (*in_double)(const double*) = nullptr;
    float (*in_float)(const float*) = nullptr;
    double start = 0;  // of a fold
};

inline constexpr size_t most_operands = 3;  // of a pointwise operation

std::span<const Operation> operations();
// nullptr when there is no such operation; layouts, gathers and products have no row.
const Operation* find_operation(Family family, const std::string& name);
// Whether what C computes must be cut off again: of two 8-bit values it makes an int.
bool exceeds_its_type(const std::string& operation, DType dtype);
inline const Operation* operation_of(const Node& node) { return find_operation(node.family, node.op); }

// What a value made by `op` is called in generated source: "exponential", "difference".
std::string word_for(const std::string& op);

}  // namespace strop
