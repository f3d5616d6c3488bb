// How a sort stands in a graph, which has no operation for it: an element's place in its row is the number of those
// that come before it.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace strop {

struct Rank {
    int source = 0;  // a value whose last axis is sorted; of equal elements the first comes first
    bool descending = false;
    std::optional<Expression> limit;  // the first of the places that are not told apart
};

// Of a reduction that counts, for each element of the last axis of a value, those that come before it; or of the
// minimum of such a one and a constant, the limit.
std::optional<Rank> rank_of(const Graph& graph, const Node& node);

// The nodes between such a reduction and what is sorted; none where the caller reads one of them.
std::vector<int> comparisons_of(const Graph& graph, const Node& reduction);

}  // namespace strop
