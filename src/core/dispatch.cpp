#include "core/dispatch.h"

namespace strop {

int pick(const DispatchTree& tree, const std::vector<DispatchWinner>& winners, const Problem& problem,
         const Dimensions& dims) {
    Bindings bindings = bindings_of(problem, dims);
    size_t at = 0;
    while (!tree.nodes.empty() && tree.nodes[at].winner < 0) {
        const DispatchNode& node = tree.nodes[at];
        at = static_cast<size_t>(node.feature.evaluate_integer(bindings) <= node.threshold ? node.yes : node.no);
    }
    int winner = tree.nodes.empty() ? tree.fallback : tree.nodes[at].winner;
    return may_be_called(winners[static_cast<size_t>(winner)].kernel, bindings) ? winner : tree.fallback;
}

}  // namespace strop
