// The decision of the dispatching function: a small tree over dimensions. Plain data.
#pragma once

#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/problem.h"

namespace strop {

// A branch tests `feature <= threshold` and goes to `yes` or `no`; a leaf names a winner.
struct DispatchNode {
    int winner = -1;     // index into the winners; -1 for a branch
    Expression feature;  // over dimensions: "N", "M*N"
    int64_t threshold = 0;
    int yes = -1, no = -1;  // indices of nodes
};

struct DispatchTree {
    std::vector<DispatchNode> nodes;  // node 0 is the root
    int fallback = 0;                 // the winner without a condition, used where a leaf's kernel may not be called
};

// A winner that the dispatching function may call.
struct DispatchWinner {
    Kernel kernel;
    Configuration configuration;
};

// The winner that the tree picks, the conditions of kernels respected.
int pick(const DispatchTree& tree, const std::vector<DispatchWinner>& winners, const Problem& problem,
         const Dimensions& dims);

}  // namespace strop
