// Algebra that lets two passes over a row become one: how partial results about a provisional maximum or mean
// merge.
#pragma once

#include <optional>
#include <vector>

#include "playbook/loop_form.h"

namespace strop::playbook {

struct MergeLaw {
    enum class Kind {
        exponential,  // sum(exp(f - max f) * ...): rescaled by exp(old max - new max) (online softmax)
        squares,      // sum((f - mean f)^2): Chan, Golub and LeVeque
    };
    Kind kind;
    int reduction;  // of the second pass
    int reference;  // the node that the second pass subtracts: the maximum or the mean
    int sum = -1;   // squares: the sum behind the mean
};

// A law for every reduction of the second pass, when there are exactly two passes before the outputs.
std::optional<std::vector<MergeLaw>> merge_laws(const LoopForm& form);

// Softmax and its relatives: where every output depends on sum(exp(v - max(v))), the maximum need not look for NaN (one
// in v makes the sum NaN, and with it every output), and the exponential's argument is never positive. The nodes become
// "max_number" and "exp_nonpositive", which take fewer instructions. A product v becomes a "rounded_product": fused
// with the subtraction it would keep digits that the maximum has lost, and of large values none would be left in the
// sum. The exponential changes only where multiply-adds are fused: it relies on their single rounding.
void use_known_maxima(LoopForm& form, bool fused_multiply_add);

}  // namespace strop::playbook
