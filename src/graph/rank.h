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
    std::optional<Expression> limit;  // of an order: the first of the places that are not told apart
};

// Of a reduction that counts, for each element of the last axis of a value, those that come before it.
std::optional<Rank> rank_of(const Graph& graph, const Node& node);

// Of a scatter that writes to each such place, or to the minimum of it and a limit, where its element was: the order.
// What is at the limit has no meaning.
std::optional<Rank> order_of(const Graph& graph, const Node& scatter);

// Elements `begin` to `end` of the rows of a value in their order: what is gathered from it by such a scatter.
struct Sorted {
    Rank rank;
    Expression begin, end;
};
std::optional<Sorted> sorted_of(const Graph& graph, const Node& gather);

// The nodes between one of these and what is sorted; none where the caller reads one of them, or somebody else places
// or an order. Several sorts may share comparisons.
std::vector<int> parts_of_sort(const Graph& graph, const Node& node);

// Whether it writes to places of its rows, all else of which is 0.
bool writes_rows(const Graph& graph, const Node& scatter);

// Whether it counts 0, 1, 2 ... along the last axis.
bool is_count_along_rows(const Graph& graph, const Node& node);

}  // namespace strop
